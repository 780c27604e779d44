package attachment

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// fakeClipboard replaces xclip with a program that runs a script.
func fakeClipboard(t *testing.T, script string) *Clipboard {
	t.Helper()
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		t.Skip("this system reads its clipboard by another command")
	}
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "xclip"), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	return &Clipboard{Env: map[string]string{"DISPLAY": ":0"}, Files: true}
}

func TestTheImageInTheClipboardIsAnAttachment(t *testing.T) {
	c := fakeClipboard(t, `[ "$*" = "-selection clipboard -t image/png -o" ] && printf '\211PNG\r\n\032\n'`)
	f, err := c.Image(t.Context())
	if err != nil || f.Name != "clipboard.png" || f.MediaType != "image/png" || f.Size != 8 {
		t.Fatalf("%+v, %v", f, err)
	}
	parts, err := Parts("", []File{f}, true)
	if err != nil || parts[0].Type != "image" || parts[0].URL != "data:image/png;base64,iVBORw0KGgo=" {
		t.Errorf("%+v, %v", parts, err)
	}
}

func TestALargeImageInTheClipboardIsAFileForAnAgentOnThisMachine(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	c := fakeClipboard(t, `printf '\211PNG\r\n\032\n'; head -c 300000 /dev/zero`)
	f, err := c.Image(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	parts, err := Parts("", []File{f}, true)
	if err != nil || !strings.HasPrefix(parts[0].URL, "file://"+os.Getenv("TMPDIR")) {
		t.Fatalf("%.80v, %v", parts, err)
	}
	if info, err := os.Stat(f.path); err != nil || info.Mode().Perm() != 0o600 || info.Size() != 300_008 {
		t.Errorf("%v, %v", info, err)
	}
	c.Files = false
	f, err = c.Image(t.Context())
	if err != nil || f.path != "" {
		t.Fatalf("%s, %v", f.path, err)
	}
	var tooLarge *TooLargeError
	if _, err := Parts("", []File{f}, true); !errors.As(err, &tooLarge) {
		t.Errorf("no file: %v", err)
	}
}

func TestAClipboardWithoutAnImageIsAnError(t *testing.T) {
	for _, script := range []string{"exit 1", "exit 0", "echo some text"} {
		if _, err := fakeClipboard(t, script).Image(t.Context()); !errors.Is(err, ErrNoImage) {
			t.Errorf("%s: %v", script, err)
		}
	}
	c := &Clipboard{}
	if _, err := c.Image(t.Context()); runtime.GOOS == "linux" && !errors.Is(err, errNoClipboardCommand) {
		t.Errorf("no display: %v", err)
	}
}

func TestClipboardEncodings(t *testing.T) {
	for name, got := range map[string]func() ([]byte, error){
		"osascript":  func() ([]byte, error) { return appleData([]byte("«data PNGf89504E47»\n")) },
		"powershell": func() ([]byte, error) { return base64Text([]byte("iVBORw==\r\n")) },
	} {
		if b, err := got(); string(b) != "\x89PNG" || err != nil {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
}

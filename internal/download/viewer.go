package download

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Viewer opens files and URLs with the system's programs. It keeps the files in a private directory until it
// is closed. It is safe for concurrent use.
type Viewer struct {
	Command []string // the opener and its arguments; nil: the system's opener

	mu    sync.Mutex
	dir   string
	files int
}

// systemOpener returns the command that opens a file or a URL with the user's program for it.
func systemOpener() []string {
	switch runtime.GOOS {
	case "darwin":
		return []string{"open"}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	return []string{"xdg-open"}
}

// Open writes the content to a temporary file, named only after its content, and runs the opener
// until it exits or ctx ends. It refuses contents that [Sniff] does not allow.
func (v *Viewer) Open(ctx context.Context, data []byte) error {
	mediaType, extension, ok := Sniff(data)
	if !ok {
		return fmt.Errorf("not opened: the content is %s, neither an image, audio, PDF nor plain text", mediaType)
	}
	opener, err := v.opener()
	if err != nil {
		return err
	}
	name, err := v.write(extension, data)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	return runOpener(ctx, opener, name)
}

// OpenURL runs the opener with a URL of the web until it exits or ctx ends.
func (v *Viewer) OpenURL(ctx context.Context, url string) error {
	if !strings.HasPrefix(url, "https://") && !strings.HasPrefix(url, "http://") {
		return errors.New("not opened: the URL is not of the web")
	}
	opener, err := v.opener()
	if err != nil {
		return err
	}
	return runOpener(ctx, opener, url)
}

// opener returns the command that opens a file or a URL.
func (v *Viewer) opener() ([]string, error) {
	command := v.Command
	if command == nil {
		command = systemOpener()
	}
	opener, err := exec.LookPath(command[0])
	if err != nil {
		return nil, fmt.Errorf("not opened: %s is not installed", command[0])
	}
	return append([]string{opener}, command[1:]...), nil
}

// runOpener runs the opener with a file or a URL.
func runOpener(ctx context.Context, command []string, what string) error {
	var stderr strings.Builder // a program that the opener starts may hold it open: WaitDelay
	cmd := exec.CommandContext(ctx, command[0], append(command[1:], what)...)
	cmd.Stderr, cmd.WaitDelay = &stderr, time.Second
	if err := cmd.Run(); err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
		return fmt.Errorf("%s failed: %w: %s", command[0], err, line)
	}
	return nil
}

// write writes a file into the private directory and returns its name.
func (v *Viewer) write(extension string, data []byte) (string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.dir == "" {
		dir, err := os.MkdirTemp("", "agentctl-*") // mode 0700
		if err != nil {
			return "", err
		}
		v.dir = dir
	}
	v.files++
	name := filepath.Join(v.dir, "file-"+strconv.Itoa(v.files)+extension)
	return name, os.WriteFile(name, data, 0o600)
}

// Close removes the files.
func (v *Viewer) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.dir == "" {
		return nil
	}
	err := os.RemoveAll(v.dir)
	v.dir = ""
	if err != nil {
		return errors.New("remove opened files: " + err.Error())
	}
	return nil
}

package input

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

const testPNG = "\x89PNG\r\n\x1a\n"

// openIn returns a screen of a session on this machine, in a new directory with files.
func openIn(t *testing.T, files map[string]string) (s *rig, dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, data := range files {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	j := tuitest.NewJournal()
	j.CaughtUp()
	s = open(t, j, 80)
	s.in.Local, s.Replica.State.CWD = true, dir
	return s, dir
}

// mustSendParts fails unless the only command sent is a message with a text and parts of these
// names. It returns the parts.
func (s *rig) mustSendParts(text, names string) []protocol.Part {
	s.t.Helper()
	d := s.MustSend(protocol.DoSend).(protocol.SendData)
	var got []string
	for _, p := range d.Parts {
		got = append(got, p.Name)
	}
	if d.Text != text || strings.Join(got, " ") != names {
		s.t.Fatalf("sent %q with %q, want %q with %q", d.Text, got, text, names)
	}
	return d.Parts
}

func TestAPastedPathOfAFileIsAnAttachment(t *testing.T) {
	s, dir := openIn(t, map[string]string{"my shot.png": testPNG, "app.log": "FAIL"})
	s.typeText("look")
	s.paste("'" + dir + "/my shot.png' file://" + dir + "/app.log ")
	s.MustShow(" + my shot.png · image/png · 8 bytes\n",
		" + app.log · text/plain · 4 bytes · alt+x removes it", "> look\n")
	s.keys("enter")
	parts := s.mustSendParts("look", "my shot.png app.log")
	if parts[0].Type != "image" || parts[0].URL != "data:image/png;base64,iVBORw0KGgo=" || parts[1].Text != "FAIL" {
		t.Errorf("parts %+v", parts)
	}
	s.MustHide(" + app.log")
}

func TestAPastedTextThatNamesNoFileStaysText(t *testing.T) {
	s, dir := openIn(t, map[string]string{"a": "x"})
	for _, text := range []string{
		dir + "/none", dir, dir + "/a and more", "plain words", "/dev/null", "https://a.b/c",
	} {
		s.paste(text)
		if got := s.in.composer.Text(); got != text || len(s.in.attachments.files) != 0 {
			t.Errorf("%q is pasted as %q, %d files", text, got, len(s.in.attachments.files))
		}
		s.in.composer.Clear()
	}
}

func TestAttachmentsAreRemovedByKeys(t *testing.T) {
	s, dir := openIn(t, map[string]string{"a.log": "a", "b.log": "b", "c.log": "c"})
	for _, name := range []string{"a.log", "b.log", "c.log"} {
		s.paste(dir + "/" + name)
	}
	s.keys("alt+x")
	s.MustHide("c.log")
	s.keys("backspace")
	s.MustHide("b.log")
	s.typeText("x")
	s.keys("backspace")
	s.MustShow("a.log")
	s.keys("enter") // a message of a file alone
	s.mustSendParts("", "a.log")
	s.keys("enter", "backspace", "alt+x")
	s.MustSendNothing()
}

func TestARefusedMessageIsTakenBackWithItsFiles(t *testing.T) {
	s, dir := openIn(t, map[string]string{"a.log": "a"})
	s.Refuse(tuitest.ErrRefused)
	s.typeText("look")
	s.paste(dir + "/a.log")
	s.keys("enter")
	s.MustShow("not sent", "1 file")
	s.keys("alt+t")
	s.MustShow(" + a.log", "> look")
}

func TestRefusedMessageKept(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 100)
	s.Refuse(tuitest.ErrRefused)
	s.typeText("please")
	s.keys("enter")
	s.MustShow("not sent: observers may not do that")
	s.keys("alt+t")
	s.MustShow("> please")
	s.MustHide("not sent")
}

func TestAMentionedFileGoesWithTheMessage(t *testing.T) {
	s, _ := openIn(t, map[string]string{"src/a.go": "package a", "shot.png": testPNG})
	s.paste("compare @src/a.go, @shot.png and @ada")
	s.keys("enter")
	parts := s.mustSendParts("compare @src/a.go, @shot.png and @ada", "a.go shot.png")
	if parts[0].Text != "package a" || parts[1].Type != "image" {
		t.Errorf("parts %+v", parts)
	}
}

func TestFilesOfAnotherMachineAreNotMentioned(t *testing.T) {
	s, dir := openIn(t, map[string]string{"a.go": "package a"})
	s.in.Local = false
	s.typeText("@a")
	s.MustShow("@ names no file here: the session is on another machine")
	s.typeText(".go ")
	s.MustHide("names no file here")
	s.paste(dir + "/a.go") // a file of the user's machine
	s.keys("enter")
	s.mustSendParts("@a.go", "a.go")
}

func TestACompletedFileGoesWithTheMessage(t *testing.T) {
	s, _ := openIn(t, map[string]string{"src/main.go": "package main", "src/my file.go": "x"})
	s.typeText("see @ma")
	s.MustShow("1 file ", " ▸ src/main.go")
	s.keys("enter")
	s.MustShow("> see @src/main.go")
	s.MustHide("attaches")
	s.MustSendNothing()
	s.typeText("and @myfi")
	s.keys("tab")
	s.MustShow(`> see @src/main.go and @"src/my file.go"`)
	s.keys("enter")
	s.mustSendParts(`see @src/main.go and @"src/my file.go"`, "main.go my file.go")
	s.typeText("@none")
	s.keys("enter")
	s.mustSendParts("@none", "")
}

func TestTheImageInTheClipboardIsAttached(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the fake clipboard stands in for xclip")
	}
	s, dir := openIn(t, map[string]string{"xclip": "#!/bin/sh\nprintf '\\211PNG\\r\\n\\032\\n'\n"})
	if err := os.Chmod(filepath.Join(dir, "xclip"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.keys("ctrl+v")
	s.MustShow("cannot read the clipboard here")
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	s.in.Env = map[string]string{"DISPLAY": ":0"}
	s.keys("ctrl+v")
	s.MustShow(" + clipboard.png · image/png · 8 bytes")
	if err := os.WriteFile(filepath.Join(dir, "xclip"), []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.keys("ctrl+v")
	s.MustShow("no image in the clipboard")
}

func TestAnEditOfAQueuedMessageKeepsItsFiles(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 80)
	parts := []protocol.Part{{Type: "file", Name: "a.log", Text: "x"}}
	s.Replica.State.Queue[0].Parts = parts
	s.edit()
	s.Session.Mu.Lock()
	s.Session.Sent = nil
	s.Session.Mu.Unlock()
	s.typeText("!")
	s.keys("enter")
	if d := s.MustSend(protocol.DoQueueEdit).(protocol.QueueEditData); len(d.Parts) != 1 || d.Parts[0].Name != "a.log" {
		t.Errorf("sent %+v", d)
	}
}

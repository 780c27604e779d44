package sessionview

import (
	"os"
	"path/filepath"
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// setEditor makes a shell script the editor, which runs synchronously. It returns the directory of
// the temporary files.
func (s *testScreen) setEditor(script string) string {
	s.t.Helper()
	dir := s.t.TempDir()
	s.t.Setenv("TMPDIR", dir)
	s.m.screen.Editor = "sh -c '" + script + "' sh"
	s.m.screen.Exec = func(c tea.ExecCommand, done tea.ExecCallback) tea.Cmd {
		return func() tea.Msg { return done(c.Run()) }
	}
	return dir
}

func (s *testScreen) mustLeaveNoFile(dir string) {
	s.t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		s.t.Errorf("got files left %v, error %v, want none", left, err)
	}
}

func TestEditor(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	dir := s.setEditor(`ls -l "$1" | cut -c1-10 >> "$1"; printf "and more\033[2J\n\n" >> "$1"`)
	s.typeText("begun")
	s.press("alt+enter", "ctrl+g")
	s.mustCompose("begun\n-rw-------\nand more")
	s.mustLeaveNoFile(dir)
	s.press("enter")
	if data := s.mustSend(protocol.DoSend).(protocol.SendData); data.Text != "begun\n-rw-------\nand more" {
		t.Errorf("got sent text %q", data.Text)
	}
}

func TestEditorFails(t *testing.T) {
	for script, want := range map[string]string{
		`echo lost > "$1"; exit 3`: "exit status 3",
		`rm "$1"`:                  "no such file",
		`head -c 300000 /dev/zero | tr "\000" x > "$1"`: "too long",
	} {
		s := open(t, tuitest.Scenes["transcript"](), 200, 24)
		dir := s.setEditor(script)
		s.typeText("kept")
		s.press("ctrl+g")
		s.mustShow(want)
		s.mustCompose("kept")
		s.mustLeaveNoFile(dir)
	}
}

func TestEditorMissing(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 200, 24)
	s.setEditor("")
	s.m.screen.Editor = filepath.Join(t.TempDir(), "nothing")
	s.typeText("kept")
	s.press("ctrl+g")
	s.mustShow("editor", "exit status 127")
	s.mustCompose("kept")
}

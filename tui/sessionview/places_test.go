package sessionview

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/ui"
)

// openInDirectory returns a screen of a local session whose directory has two files, and the
// function that returns the arguments of the editors started.
func openInDirectory(t *testing.T, text string) (s *testScreen, dir string, started func() [][]string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"main.go", "store.go"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	j := tuitest.NewJournal()
	j.Pending[len(j.Pending)-1].Event.Data = protocol.MustEncode(protocol.SessionCreatedData{Name: "fix", CWD: dir})
	j.UserMessage(tuitest.Ada, "m1", "where is it?")
	j.Text("t", text)
	j.CaughtUp()
	s = open(t, j, 80, 20)
	s.m.files.Local, s.m.files.Editor = true, "vim"
	var arguments [][]string
	s.m.files.Exec = func(c tea.ExecCommand, done tea.ExecCallback) tea.Cmd {
		arguments = append(arguments, c.(*ui.Editor).Arguments)
		return func() tea.Msg { return done(nil) }
	}
	s.press("tab", "G")
	return s, dir, func() [][]string { return arguments }
}

func TestOpenTheFileThatAnItemNames(t *testing.T) {
	s, dir, started := openInDirectory(t, "It is in `main.go:12`, not in ../main.go.")
	s.press("e")
	if got := started(); len(got) != 1 || !slices.Equal(got[0], []string{"+12", filepath.Join(dir, "main.go")}) {
		t.Errorf("started %q", got)
	}
}

func TestOpenOneOfSeveralFiles(t *testing.T) {
	s, dir, started := openInDirectory(t, "main.go:1 and store.go:2:3")
	s.press("e")
	s.mustShow("open which file?", "main.go:1", "store.go:2:3")
	s.press("down", "enter")
	if got := started(); len(got) != 1 || !slices.Equal(got[0], []string{"+2", filepath.Join(dir, "store.go")}) {
		t.Errorf("started %q", got)
	}
	s.mustHide("open which file?")
}

func TestOpenNoFile(t *testing.T) {
	s, _, started := openInDirectory(t, "missing.go:1 and /etc/passwd")
	s.press("e")
	s.mustShow("it names no file of the session's directory")
	s.m.files.Local = false
	s.press("e")
	s.mustShow("the session's files are not on this machine")
	if got := started(); len(got) > 0 {
		t.Errorf("started %q", got)
	}
}

func TestOpenReportsTheEditorsError(t *testing.T) {
	s, _, _ := openInDirectory(t, "main.go:12")
	s.m.files.Exec = func(_ tea.ExecCommand, done tea.ExecCallback) tea.Cmd {
		return func() tea.Msg { return done(os.ErrNotExist) }
	}
	s.press("e")
	s.mustShow("file does not exist")
}

package statusline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/paneltest"
	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/sessionview/replica"
	"agentctl/tui/turns"
)

func TestDirectoryText(t *testing.T) {
	for _, c := range []struct{ cwd, home, branch, want string }{
		{"", "/home/ada", "", ""},
		{"/home/ada", "/home/ada", "", "~"},
		{"/home/ada/x", "/home/ada/", "main", "~/x (main)"},
		{"/home/adam/x", "/home/ada", "", "/home/adam/x"},
		{"/x", "", "", "/x"},
		{"/x", "/", "", "/x"},
		{"/x\x1b[2J", "", "a\x1b[2Jb\u202e", "/x (ab)"},
		{"/" + strings.Repeat("x", 60) + "/end", "", "", "…" + strings.Repeat("x", 35) + "/end"},
	} {
		r := replica.New()
		r.State.CWD = c.cwd
		d := directory{config: &Config{Base: panel.Base{Replica: r}, Local: true, Home: c.home}, branch: c.branch}
		if got := d.text(); got != c.want {
			t.Errorf("%+v: got %q, want %q", c, got, c.want)
		}
	}
}

// testLine is the line of a session of this machine, or of another one.
type testLine struct {
	*paneltest.Rig
	line *Line
}

func open(t *testing.T, j *tuitest.Journal, local bool, home string) *testLine {
	t.Helper()
	r := paneltest.New(t, j)
	l := New(Config{
		Base:  panel.Base{Styles: r.Styles, Replica: r.Replica, Commands: r.Commands, Now: r.Now},
		Local: local, Home: home,
		Turns:        &turns.Turns{},
		RunningTool:  func(time.Time) (string, time.Duration) { return "", 0 },
		Silence:      func() time.Duration { return 0 },
		Files:        func() string { return "" },
		Interrupting: func() bool { return false },
	})
	r.Lines = func() []string { return []string{l.View(200, "")} }
	return &testLine{r, l}
}

// applyJournal applies the pending updates of the journal.
func (l *testLine) applyJournal() {
	l.ApplyJournal()
	l.deliver(l.line.Updated())
}

// update gives the line a message.
func (l *testLine) update(msg tea.Msg) {
	cmd, _ := l.line.Update(msg)
	l.deliver(cmd)
}

// deliver runs a command and gives the line its messages.
func (l *testLine) deliver(cmd tea.Cmd) {
	for _, msg := range l.Run(cmd) {
		l.update(msg)
	}
}

// inDirectory returns the journal of a session in a directory, with a turn.
func inDirectory(cwd string) *tuitest.Journal {
	j := tuitest.NewJournal()
	created := protocol.SessionCreatedData{Name: "fix-tests", Agent: "gemini", CWD: cwd}
	j.Pending[2].Event.Data = protocol.MustEncode(created)
	j.UserMessage(tuitest.Ada, "m1", "go")
	j.CaughtUp()
	return j
}

// checkOut makes a branch the current one of a directory.
func checkOut(t *testing.T, dir, branch string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	head := []byte("ref: refs/heads/" + branch + "\n")
	if err := os.WriteFile(filepath.Join(dir, ".git", "HEAD"), head, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestBranchIsReadAfterTurnsAndOnFocus(t *testing.T) {
	dir := t.TempDir()
	checkOut(t, dir, "one")
	l := open(t, inDirectory(dir), true, dir)
	l.applyJournal()
	l.MustShow("~ (one)")
	checkOut(t, dir, "two")
	l.applyJournal()
	l.MustShow("~ (one)")
	l.Journal.EndTurn(protocol.ReasonCompleted)
	l.applyJournal()
	l.MustShow("~ (two)")
	checkOut(t, dir, "three")
	l.update(tea.FocusMsg{})
	l.MustShow("~ (three)")
}

func TestBranchOfARemoteSessionIsNotRead(t *testing.T) {
	dir := t.TempDir()
	checkOut(t, dir, "main")
	l := open(t, inDirectory(dir), false, "")
	l.applyJournal()
	l.update(tea.FocusMsg{})
	l.MustHide("(main)")
	l.line.Local = true
	l.update(tea.FocusMsg{})
	l.MustShow("(main)")
}

package dashboard

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// setBranch makes a directory a git repository on a branch.
func setBranch(t *testing.T, dir, name string) {
	t.Helper()
	git := filepath.Join(dir, ".git")
	if err := os.MkdirAll(git, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(git, "HEAD"), []byte("ref: refs/heads/"+name+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDashboardShowsTheBranchesOfThisMachine(t *testing.T) {
	dir := t.TempDir()
	setBranch(t, dir, "fix/parser")
	s := protocol.Summary{
		Session: "s1", Name: "docs", Agent: "claude", CWD: dir, Status: protocol.Idle, Updated: tuitest.Start,
	}
	other := protocol.Summary{Session: "s2", CWD: t.TempDir(), Status: protocol.Idle}
	d := newTestDashboard(t, 200, 16, s, other)
	d.wantNo("fix/parser")
	d.wantNo("branch")
	d = newTestDashboardWith(t, func(c *Config) { c.Local = true }, 200, 16, s, other)
	row := regexp.MustCompile(`docs .*claude .*fix/parser +1m`)
	if !row.MatchString(d.screen()) {
		t.Errorf("got no branch:\n%s", d.screen())
	}
	d.want("directory", "branch")
	setBranch(t, dir, "main")
	s.Turns++
	d.put(s)
	d.want(" main ")
	setBranch(t, dir, "next")
	d.send(tea.FocusMsg{})
	d.want(" next ")
	d.send(tea.WindowSizeMsg{Width: 90, Height: 16})
	d.wantNo("branch")
}

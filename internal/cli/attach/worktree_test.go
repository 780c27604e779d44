package attach

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/internal/config"
)

// repository returns a git repository with one commit.
func repository(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repo")
	for _, args := range [][]string{
		{"init", "-q", dir},
		{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "start"},
	} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %s", args, out)
		}
	}
	return dir
}

func TestAWorktreeIsMadeForASessionAndUndone(t *testing.T) {
	dir := repository(t)
	w, err := makeWorktrees(&config.Worktrees{})(t.Context(), dir, "claude")
	if err != nil {
		t.Fatal(err)
	}
	if branch := w.Labels["worktree"]; w.Dir == dir || !strings.HasPrefix(branch, "agentctl/claude-") {
		t.Errorf("made %+v", w)
	}
	if err := w.Undo(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(w.Dir); err == nil {
		t.Errorf("%s stays", w.Dir)
	}
}

// A set-up that fails leaves no worktree.
func TestAWorktreeWhoseSetupFailsIsRemoved(t *testing.T) {
	dir := repository(t)
	_, err := makeWorktrees(&config.Worktrees{Setup: []string{"false"}})(t.Context(), dir, "claude")
	if err == nil {
		t.Fatal("no error")
	}
	out, err := exec.Command("git", "-C", dir, "worktree", "list").Output()
	if err != nil || strings.Count(string(out), "\n") != 1 {
		t.Errorf("got worktrees %s, %v", out, err)
	}
}

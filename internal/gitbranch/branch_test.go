package gitbranch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBranchOfADirectory(t *testing.T) {
	dir := t.TempDir()
	commit := strings.Repeat("0123456789abcdef", 3)[:40]
	for name, content := range map[string]string{
		"repository/.git/HEAD":               "ref: refs/heads/fix/a b\n",
		"repository/.git/worktrees/wt/HEAD":  "ref: refs/heads/other\n",
		"repository/sub/file":                "",
		"detached/.git/HEAD":                 commit + "\n",
		"absolute/.git":                      "gitdir: " + filepath.Join(dir, "repository/.git/worktrees/wt") + "\n",
		"repository/relative/.git":           "gitdir: ../.git/worktrees/wt\n",
		"broken/.git":                        "text",
		"secret/.git/HEAD":                   "password\n",
		"repository/submodule/.git/HEAD/dir": "",
	} {
		writeFile(t, filepath.Join(dir, name), content)
	}
	for name, want := range map[string]string{
		"repository":           "fix/a b",
		"repository/sub":       "fix/a b",
		"repository/missing/x": "fix/a b",
		"repository/relative":  "other",
		"repository/submodule": "",
		"absolute":             "other",
		"detached":             "0123456",
		"broken":               "",
		"secret":               "",
	} {
		if got := Of(filepath.Join(dir, name)); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

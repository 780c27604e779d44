package gitbranch

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRepositoryOfADirectory(t *testing.T) {
	root := t.TempDir()
	for name, content := range map[string]string{
		"main/.git/HEAD":              "ref: refs/heads/main\n",
		"main/.git/worktrees/wt/HEAD": "ref: refs/heads/other\n",
		"main/pkg/store/x.go":         "",
		"wt/.git":                     "gitdir: " + filepath.Join(root, "main", ".git", "worktrees", "wt") + "\n",
		"plain/x":                     "",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for dir, want := range map[string]string{
		"main": "main", "main/pkg/store": "main", "wt": "main", "plain": "", "missing/x": "",
	} {
		if want != "" {
			want = filepath.Join(root, want)
		}
		if got := Repository(filepath.Join(root, filepath.FromSlash(dir))); got != want {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
	if got := Repository("relative"); got != "" {
		t.Errorf("a relative directory: %q", got)
	}
}

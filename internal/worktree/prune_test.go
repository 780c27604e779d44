package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheEntryOfADeletedWorktreeIsRemoved(t *testing.T) {
	for name, c := range map[string]struct {
		path   string
		before func(t *testing.T, w *Worktree) // while the directory is there
		entry  bool                            // it stays
		branch bool                            // it stays
	}{
		"no work":           {path: DefaultPath},
		"in the repository": {path: ".trees/{branch}"},
		"deeper beside it":  {path: "../trees/{branch}"},
		"a commit":          {path: DefaultPath, before: commitOne, branch: true},
		"its branch was removed": {path: DefaultPath, before: func(t *testing.T, w *Worktree) {
			mustGit(t, w.Repository, "update-ref", "-d", "refs/heads/"+w.Branch)
		}},
		"no branch": {path: DefaultPath, entry: true, branch: true, before: func(t *testing.T, w *Worktree) {
			mustGit(t, w.Dir, "checkout", "-q", "--detach")
			commitOne(t, w)
		}},
		"made by others": {path: DefaultPath, entry: true, branch: true, before: func(t *testing.T, w *Worktree) {
			gitDir := mustGit(t, w.Dir, "rev-parse", "--absolute-git-dir")
			if err := os.Remove(filepath.Join(gitDir, recordFile)); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			repo := testRepository(t)
			w := mustCreate(t, Request{Dir: repo, Branch: "fix", Path: c.path})
			other := mustCreate(t, Request{Dir: repo, Branch: "other"})
			if c.before != nil {
				c.before(t, w)
			}
			for _, dir := range []string{w.Dir, other.Dir} {
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
			}
			if filepath.Base(filepath.Dir(w.Dir)) == "trees" { // the directory was empty
				if err := os.Remove(filepath.Dir(w.Dir)); err != nil {
					t.Fatal(err)
				}
			}
			if err := Prune(t.Context(), w.Dir); err != nil {
				t.Fatal(err)
			}
			list := mustGit(t, repo, "worktree", "list", "--porcelain")
			if got := strings.Contains(list, w.Dir+"\n"); got != c.entry {
				t.Errorf("the entry is there: %v in %s", got, list)
			}
			if !strings.Contains(list, other.Dir) {
				t.Error("the entry of another worktree was removed")
			}
			if _, err := commit(t.Context(), repo, "refs/heads/fix"); (err == nil) != c.branch {
				t.Errorf("the branch: %v", err)
			}
		})
	}
}

func TestAWorktreeThatIsThereIsNotPruned(t *testing.T) {
	w := mustCreate(t, Request{Dir: testRepository(t), Branch: "fix"})
	if err := Prune(t.Context(), w.Dir); err != nil || Find(t.Context(), w.Dir) == nil {
		t.Errorf("%v", err)
	}
}

func commitOne(t *testing.T, w *Worktree) {
	t.Helper()
	mustGit(t, w.Dir, "commit", "-q", "--allow-empty", "-m", "work")
}

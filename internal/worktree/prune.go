package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Prune removes git's entry of a worktree that this package made and whose directory was deleted,
// and its branch as Remove does. The repository must be above or beside the directory, where
// DefaultPath puts it; otherwise the entry stays. An entry without a branch also stays: its commits
// would be lost.
func Prune(ctx context.Context, dir string) error {
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return nil // the worktree exists, or cannot be seen
	}
	w := findEntry(ctx, dir)
	if w == nil {
		return nil
	}
	ref := "refs/heads/" + w.Branch
	head, gone := commit(ctx, w.Repository, ref)
	commits := 0
	if gone == nil {
		var err error
		if commits, err = w.unmerged(ctx, w.Repository, ref); err != nil {
			return err
		}
	}
	if _, err := git(ctx, w.Repository, "worktree", "remove", "--", w.Dir); err != nil {
		return err
	}
	if gone != nil || !w.Made || commits > 0 {
		return nil
	}
	return w.removeBranch(ctx, head)
}

// findEntry returns the worktree of a deleted directory, or nil.
func findEntry(ctx context.Context, dir string) *Worktree {
	parent := filepath.Dir(dir)
	if above, err := filepath.EvalSymlinks(parent); err == nil {
		parent, dir = above, filepath.Join(above, filepath.Base(dir))
	}
	for !isDir(parent) && parent != filepath.Dir(parent) {
		parent = filepath.Dir(parent)
	}
	var repositories []string
	if above, err := mainWorktree(ctx, parent); err == nil {
		repositories = append(repositories, above)
	}
	beside, _ := os.ReadDir(parent)
	for _, d := range beside {
		repositories = append(repositories, filepath.Join(parent, d.Name()))
	}
	for _, repository := range repositories {
		entries, _ := os.ReadDir(filepath.Join(repository, ".git", "worktrees"))
		for _, d := range entries {
			gitDir := filepath.Join(repository, ".git", "worktrees", d.Name())
			if w := readEntry(gitDir, dir); w != nil {
				w.Repository = repository
				return w
			}
		}
	}
	return nil
}

// readEntry returns the worktree of git's directory for it, or nil if that is not the one at dir.
func readEntry(gitDir, dir string) *Worktree {
	at, err := os.ReadFile(filepath.Join(gitDir, "gitdir"))
	if err != nil {
		return nil
	}
	path := filepath.FromSlash(strings.TrimSpace(string(at)))
	if !filepath.IsAbs(path) {
		path = filepath.Join(gitDir, path)
	}
	head, err := os.ReadFile(filepath.Join(gitDir, "HEAD"))
	if err != nil || filepath.Dir(path) != dir || !strings.HasPrefix(string(head), "ref: ") {
		return nil
	}
	b, err := os.ReadFile(filepath.Join(gitDir, recordFile))
	w := &Worktree{Dir: dir}
	if err != nil || json.Unmarshal(b, &w.record) != nil {
		return nil
	}
	return w
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// removeBranch removes the branch unless it has moved from head.
func (w *Worktree) removeBranch(ctx context.Context, head string) error {
	if _, err := git(ctx, w.Repository, "update-ref", "-d", "refs/heads/"+w.Branch, head); err != nil {
		return fmt.Errorf("the branch %s stays: %w", w.Branch, err)
	}
	return nil
}

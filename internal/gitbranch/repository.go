package gitbranch

import (
	"os"
	"path/filepath"
	"strings"
)

// Repository returns the directory of the git repository that a directory is in, or "" if it is in
// none. A worktree is in the repository that it was made from; a submodule is a repository.
func Repository(dir string) string {
	for filepath.IsAbs(dir) {
		git := filepath.Join(dir, ".git")
		if info, err := os.Stat(git); err == nil {
			data := filepath.ToSlash(gitDir(git, info))
			if main, _, ok := strings.Cut(data, "/.git/worktrees/"); ok {
				return filepath.FromSlash(main)
			}
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return ""
}

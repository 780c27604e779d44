package gitbranch

import (
	"os"
	"path/filepath"
	"strings"
)

// Repository returns the directory of the git repository that a directory is in, for a worktree that
// of the main one, or "" if it is in none. Of a submodule it is the submodule's directory.
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

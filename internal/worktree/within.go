package worktree

import (
	"path/filepath"
	"strings"
)

// Within reports whether a path is a directory or below it. It follows links of both, so that two
// names of one directory are the same.
func Within(path, dir string) bool {
	rel, err := filepath.Rel(realPath(dir), realPath(path))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// realPath returns a path without links. Elements that do not exist stay.
func realPath(path string) string {
	path = filepath.Clean(path)
	for dir, rest := path, ""; ; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if dir == filepath.Dir(dir) {
			return path
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

package policy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/protocol"
)

// resolveFiles replaces the paths of a patch with the files that it changes, absolute and without
// links, in the working directory dir unless the request has another. It reports whether the patch
// changes only these files and all are in dir: other patches get no rule.
func resolveFiles(a *protocol.Approval, dir string) bool {
	if a.CWD == "" {
		a.CWD = dir
	}
	files, whole := a.Files()
	root, ok := resolve(dir)
	whole = whole && ok
	prefix := strings.TrimSuffix(root, string(filepath.Separator)) + string(filepath.Separator)
	a.Paths = nil
	for _, file := range files {
		path, ok := resolve(file)
		whole = whole && ok && strings.HasPrefix(path, prefix)
		if !slices.Contains(a.Paths, path) {
			a.Paths = append(a.Paths, path)
		}
	}
	return whole
}

// resolve returns a path without links. The last elements of it may not exist. ok is false for a
// path that does not resolve, such as a loop of links.
func resolve(path string) (resolved string, ok bool) {
	path = filepath.Clean(path)
	if !filepath.IsAbs(path) {
		return path, false
	}
	for dir, rest := path, ""; ; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest), true
		}
		if _, err := os.Lstat(dir); err == nil || !os.IsNotExist(err) || dir == filepath.Dir(dir) {
			return path, false // a link to nothing, or unreadable
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

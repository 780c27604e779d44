package policy

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/internal/realpath"
	"agentctl/protocol"
)

// resolveFiles replaces the paths of a patch with the files that it changes, absolute and without
// links, in the working directory dir unless the request has another. It reports whether the patch
// changes only these files and all are in dir: other patches get no rule.
func resolveFiles(a *protocol.Approval, dir string) bool {
	a.CWD = cmp.Or(a.CWD, dir)
	files, whole := a.Files()
	root, ok := resolve(dir)
	whole = whole && ok && !upwards(a)
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

// upwards reports whether a path of a patch leads elsewhere than it reads: with .. after a link.
func upwards(a *protocol.Approval) bool {
	names := slices.Clone(a.Paths)
	for i := range a.Content {
		names = append(names, a.Content[i].Path)
	}
	args := protocol.ReadArguments(a.Input)
	for field := range args.Fields() {
		if text, ok := args.Text(field); ok && !strings.Contains(text, "\n") {
			names = append(names, text)
		}
	}
	return slices.ContainsFunc(names, func(name string) bool {
		if !goesUp(name) {
			return false
		}
		real, ok := physical(name, a.CWD)
		if !filepath.IsAbs(name) {
			name = filepath.Join(a.CWD, name)
		}
		read, _ := resolve(filepath.Clean(name))
		return !ok || real != read
	})
}

// resolve returns a path as the system finds it, without links. The last elements of it may not
// exist. ok is false for a path that does not resolve, such as a loop of links.
func resolve(path string) (resolved string, ok bool) {
	real, _, err := realpath.Resolve(path)
	if err != nil {
		return filepath.Clean(path), false
	}
	return real, true
}

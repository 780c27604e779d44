package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"agentctl/server/policy"
)

// A directory is the working directory of a session.
type directory struct {
	path string // absolute, as the session names it
	real string // without links
	root *os.Root
	own  []string // further directories of agentctl
}

func openDirectory(path string, own []string) (*directory, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open the directory of the session: %w", err)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("open the directory of the session: %w", err)
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, fmt.Errorf("open the directory of the session: %w", err)
	}
	return &directory{path: path, real: real, root: root, own: own}, nil
}

func (d *directory) close() error { return d.root.Close() }

// A place is a file or a directory that a call names. It may not exist.
type place struct {
	shown   string // relative to the session's directory if it is in it, else absolute
	real    string // absolute, without links
	name    string // of the file in its root
	outside bool   // of the session's directory: the root is the nearest directory that exists
	dir     *directory
}

// locate returns the place of a path, relative to the session's directory or absolute.
func (d *directory) locate(path string) (place, error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return place{}, fmt.Errorf("invalid path %.200q", path)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(d.path, filepath.FromSlash(path))
	}
	real, existing, err := resolve(filepath.Clean(path))
	if err != nil {
		return place{}, err
	}
	p := place{shown: d.show(real), real: real, dir: d}
	var inside bool
	if p.name, inside = within(d.real, real); inside {
		return p, nil
	}
	p.outside = true
	if existing == real && filepath.Dir(real) != real {
		existing = filepath.Dir(real)
	}
	p.name, _ = within(existing, real)
	return p, nil
}

// show returns how users see an absolute path without links: see place.shown.
func (d *directory) show(real string) string {
	if name, ok := within(d.real, real); ok {
		return filepath.ToSlash(name)
	}
	return real
}

// resolve returns a path without links, and the part of it that exists. The last elements of the
// path may not exist.
func resolve(path string) (real, existing string, err error) {
	for dir, rest := path, ""; ; dir = filepath.Dir(dir) {
		resolved, err := filepath.EvalSymlinks(dir)
		if err == nil {
			return filepath.Join(resolved, rest), resolved, nil
		}
		if _, found := os.Lstat(dir); found == nil {
			return "", "", fmt.Errorf("%s is a link that leads nowhere", dir)
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return "", "", fmt.Errorf("find %s: %w", path, err)
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

// within returns the path of a file in a directory. Both have no links.
func within(dir, path string) (name string, ok bool) {
	name, err := filepath.Rel(dir, path)
	return name, err == nil && filepath.IsLocal(name)
}

// open returns the root that contains the file. Links made later cannot lead out of the root. The
// caller closes it.
func (p *place) open() (*os.Root, error) {
	if !p.outside {
		return p.dir.root.OpenRoot(".")
	}
	root := strings.TrimSuffix(p.real, p.name)
	if real, err := filepath.EvalSymlinks(root); err != nil || filepath.Clean(real) != filepath.Clean(root) {
		return nil, fmt.Errorf("the directory of %s was replaced", p.shown)
	}
	return os.OpenRoot(root)
}

// protected reports whether a change of the file could run programs later, or change what agents
// may do.
func (p *place) protected() bool { return policy.Protected(p.real, p.dir.own) }

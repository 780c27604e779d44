package tool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"agentctl/internal/realpath"
	"agentctl/server/policy"
	"agentctl/server/sandbox"
)

// A directory is the working directory of a session.
type directory struct {
	path string // absolute, as the session names it
	real string // without links
	root *os.Root
	own  []string // further directories of agentctl
	box  *sandbox.Box
}

func openDirectory(path string, own []string, box *sandbox.Box) (*directory, error) {
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
	return &directory{path: path, real: real, root: root, own: own, box: box}, nil
}

// A place is a file or a directory that a call names. It may not exist.
type place struct {
	shown   string // relative to the session's directory if it is in it, else absolute
	real    string // absolute, without links
	name    string // of the file in its root
	outside bool   // of the session's directory
	nearest bool   // the root is the nearest directory that exists, not the session's directory
	dir     *directory
}

// locate returns the place of a path, relative to the session's directory or absolute.
func (d *directory) locate(path string) (place, error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return place{}, fmt.Errorf("invalid path %.200q", path)
	}
	if !filepath.IsAbs(path) {
		path = d.path + string(filepath.Separator) + filepath.FromSlash(path)
	}
	real, existing, err := realpath.Resolve(path)
	if err != nil {
		return place{}, err
	}
	if err := d.box.May(real, false); err != nil {
		return place{}, err
	}
	p := place{shown: d.show(real), real: real, dir: d}
	var inside bool
	if p.name, inside = within(d.real, real); inside && (d.box == nil || p.name == ".") {
		return p, nil
	}
	p.outside = !inside
	if existing == real && filepath.Dir(real) != real {
		existing = filepath.Dir(real)
	}
	p.name, _ = within(existing, real)
	p.nearest = true
	return p, nil
}

// show returns how users see an absolute path without links: see place.shown.
func (d *directory) show(real string) string {
	if name, ok := within(d.real, real); ok {
		return filepath.ToSlash(name)
	}
	return real
}

// within returns the path of a file in a directory. Both have no links.
func within(dir, path string) (name string, ok bool) {
	name, err := filepath.Rel(dir, path)
	return name, err == nil && filepath.IsLocal(name)
}

// open returns the root that contains the file. Links made later cannot lead out of the root. The
// caller closes it.
func (p *place) open() (*os.Root, error) {
	if !p.nearest {
		return p.dir.root.OpenRoot(".")
	}
	root := strings.TrimSuffix(p.real, p.name)
	if real, err := filepath.EvalSymlinks(root); err != nil || filepath.Clean(real) != filepath.Clean(root) {
		return nil, fmt.Errorf("the directory of %s was replaced", p.shown)
	}
	opened, err := os.OpenRoot(root)
	if err == nil && p.dir.box != nil {
		err = sameDirectory(opened, filepath.Clean(root))
	}
	if err != nil {
		return nil, fmt.Errorf("open the directory of %s: %w", p.shown, err)
	}
	return opened, nil
}

// sameDirectory closes a root and returns an error if it is not the directory with a path. Commands
// of the agent may have replaced a directory by a link since the path was resolved.
func sameDirectory(root *os.Root, path string) error {
	info, err := root.Stat(".")
	if err == nil {
		var now os.FileInfo
		if now, err = os.Lstat(path); err == nil && !os.SameFile(info, now) {
			err = errors.New("it was replaced")
		}
	}
	if real, linkErr := filepath.EvalSymlinks(path); err == nil && (linkErr != nil || real != path) {
		err = errors.New("it was replaced")
	}
	if err != nil {
		_ = root.Close()
	}
	return err
}

// protected reports whether a change of the file could run programs later, or change what agents
// may do.
func (p *place) protected() bool { return policy.Protected(p.real, p.dir.own) }

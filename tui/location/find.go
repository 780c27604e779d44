package location

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"agentctl/protocol"
)

// Bounds of a search for places.
const (
	maxText   = 1 << 20 // bytes of the text that are searched
	maxPath   = 1 << 10 // bytes of a path
	maxNames  = 2000    // different names that are looked up
	maxPlaces = 200
)

// Place is a line of a file.
type Place struct {
	Path         string // relative to the directory, with slashes
	Line, Column int    // from 1; 0: not known
}

// String returns the place as compilers write it.
func (p Place) String() string {
	s := p.Path
	if p.Line > 0 {
		s += ":" + strconv.Itoa(p.Line)
		if p.Column > 0 {
			s += ":" + strconv.Itoa(p.Column)
		}
	}
	return s
}

// names matches a path with an optional line and column, and the form of Python's traces. It is
// compiled when it is first needed.
var names = sync.OnceValue(func() *regexp.Regexp {
	const trace = `"([^"\n]+)", line (\d+)`
	const path = "([^\\s\"'`<>|:;,()\\[\\]{}*?!$&=]+)" + `(?::(\d+)(?::(\d+))?)?`
	return regexp.MustCompile(trace + "|" + path)
})

// Find returns the places in regular files of a directory that the text names, in their order, each
// once. Paths are relative to the directory or absolute. Nothing outside of the directory is a
// place, also through symbolic links. named are further places.
func Find(ctx context.Context, dir, text string, named []protocol.Location) (_ []Place, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	f := finder{ctx: ctx, root: root, dir: filepath.Clean(dir), files: map[string]string{}, seen: map[Place]bool{}}
	for _, l := range named {
		f.add(l.Path, l.Line, 0)
	}
	for _, m := range names().FindAllStringSubmatch(text[:min(len(text), maxText)], -1) {
		if f.full() {
			break
		}
		if m[1] != "" {
			f.add(m[1], number(m[2]), 0)
			continue
		}
		if strings.ContainsAny(m[3], "./\\") || m[4] != "" {
			f.add(m[3], number(m[4]), number(m[5]))
		}
	}
	return f.places, ctx.Err()
}

// number returns a number of at most nine digits, or 0.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || len(s) > 9 {
		return 0
	}
	return n
}

// finder collects places.
type finder struct {
	ctx    context.Context
	root   *os.Root
	dir    string
	files  map[string]string // names looked up, and their files in the directory or ""
	seen   map[Place]bool
	places []Place
}

// full reports whether the finder takes no more names.
func (f *finder) full() bool {
	return len(f.files) >= maxNames || len(f.places) >= maxPlaces || f.ctx.Err() != nil
}

// add adds a place if its name names a file.
func (f *finder) add(name string, line, column int) {
	if f.full() || len(name) > maxPath {
		return
	}
	path, known := f.files[name]
	if !known {
		path = f.lookUp(name)
		f.files[name] = path
	}
	p := Place{path, line, column}
	if path != "" && !f.seen[p] {
		f.seen[p] = true
		f.places = append(f.places, p)
	}
}

// lookUp returns the path of the file with a name, or "". A name may end with a full stop, or begin
// with the a/ or b/ of a patch.
func (f *finder) lookUp(name string) string {
	trimmed := strings.TrimRight(name, ".")
	unprefixed := strings.TrimPrefix(trimmed, "a/")
	if unprefixed == trimmed {
		unprefixed = strings.TrimPrefix(trimmed, "b/")
	}
	for _, candidate := range []string{name, trimmed, unprefixed} {
		path := f.relative(candidate)
		if path == "" {
			continue
		}
		if info, err := f.root.Stat(filepath.FromSlash(path)); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// relative returns a name relative to the directory, with slashes, or "" if it is not in it.
func (f *finder) relative(name string) string {
	path := filepath.FromSlash(name)
	if filepath.IsAbs(path) {
		var err error
		if path, err = filepath.Rel(f.dir, path); err != nil {
			return ""
		}
	}
	path = filepath.Clean(path)
	if !filepath.IsLocal(path) || path == "." {
		return ""
	}
	return filepath.ToSlash(path)
}

package policy

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/server/policy/commandline"
)

// fileName returns the name of a file in dir, without links; elsewhere its absolute path.
func fileName(name, dir string) string {
	root, _ := resolve(dir)
	real, _ := physical(name, dir)
	if name, err := filepath.Rel(root, real); err == nil && filepath.IsLocal(name) {
		return filepath.ToSlash(name)
	}
	return filepath.ToSlash(real)
}

// inside reports whether a path, relative to dir or absolute, is in dir after links are resolved. A
// path that a program could expand or load from elsewhere is not.
func inside(path, dir string) bool { return insideOf(path, dir, dir) }

// insideOf is inside for a path that is relative to another directory, start.
func insideOf(path, start, dir string) bool {
	if path == "" || strings.ContainsAny(path, "\x00$") || path[0] == '~' || !filepath.IsAbs(dir) {
		return false
	}
	if u, err := url.Parse(path); err == nil && len(u.Scheme) > 1 {
		return false
	}
	root, ok := resolve(dir)
	within := func(real string, resolved bool) bool {
		name, err := filepath.Rel(root, real)
		return ok && resolved && err == nil && filepath.IsLocal(name)
	}
	file := path
	if !filepath.IsAbs(path) {
		file = filepath.Join(start, path)
	}
	if real, resolved := resolve(file); !within(real, resolved) {
		return false
	}
	if !goesUp(path) {
		return true
	}
	return within(physical(path, start))
}

// goesUp reports whether a path has an element "..": links decide where it leads.
func goesUp(path string) bool { return strings.Contains("/"+filepath.ToSlash(path)+"/", "/../") }

// physical returns a path, relative to dir or absolute, as the system finds it: without links, each
// .. after the link before it. ok is false for a path that does not resolve.
func physical(path, dir string) (resolved string, ok bool) {
	if !filepath.IsAbs(path) {
		path = strings.TrimSuffix(dir, "/") + "/" + path
	}
	return resolve(path)
}

// maxNames bounds the names of files that are read of a call. A call with more may name any file.
const maxNames = 4096

// namedFiles are the files that a call may name.
type namedFiles struct {
	dir, root string // of the session: as it is named, and without links
	files     []namedFile
	unknown   bool // it may name any file

	real map[string]string // paths without links; empty: there is no such file
	seen map[[2]string]bool
}

type namedFile struct {
	ways  [][]string // for each meaning of the unknown parts of the name: the paths of the file, in lower case
	match commandline.Match
}

// namesOf returns the files that a call which runs a line names.
func namesOf(c *Call, line *commandline.Line) *namedFiles {
	root, _ := resolve(c.Dir)
	n := &namedFiles{dir: c.Dir, root: root, real: map[string]string{}, seen: map[[2]string]bool{}}
	for _, file := range slices.Concat(c.Files, c.Named) {
		n.add(file, c.Dir, commandline.Yes)
	}
	if c.Kind != protocol.ToolExecute || c.Line == "" && c.Start == "" {
		for _, name := range commandline.Names(c.Text) {
			n.add(name, c.Dir, commandline.Yes)
		}
	}
	for f := range line.Files() {
		n.unknown = n.unknown || !f.Word.Known() // a link with any name, too
		for _, name := range f.Names() {
			for _, dir := range f.Dirs {
				n.add(name, dir, commandline.Yes)
				if strings.ContainsRune(dir, commandline.Unknown) && !path.IsAbs(name) {
					n.add(path.Base(name), c.Dir, commandline.Maybe)
				}
			}
		}
	}
	return n
}

// samples are texts that an unknown one may be.
var samples = []string{"x", "", "a/b"}

// add adds a name, relative to dir or absolute.
func (n *namedFiles) add(name, dir string, match commandline.Match) {
	if n.seen[[2]string{name, dir}] && match == commandline.Yes {
		return
	}
	n.seen[[2]string{name, dir}] = true
	if len(n.files) >= maxNames {
		n.unknown = true
		return
	}
	f := namedFile{match: match}
	if !strings.ContainsRune(name+dir, commandline.Unknown) {
		f.ways = [][]string{n.paths(name, dir)}
	} else {
		for _, s := range samples {
			with := func(text string) string { return strings.ReplaceAll(text, string(commandline.Unknown), s) }
			f.ways = append(f.ways, n.paths(with(name), "/"+with(dir)))
		}
	}
	n.files = append(n.files, f)
}

// paths returns the paths of a file as it is named and without links: absolute, and relative to the
// session's directory.
func (n *namedFiles) paths(name, dir string) (paths []string) {
	add := func(file, root string) {
		file, root = strings.ToLower(filepath.ToSlash(file)), strings.ToLower(filepath.ToSlash(root))
		if !slices.Contains(paths, file) {
			paths = append(paths, file)
		}
		if in, ok := strings.CutPrefix(file, strings.TrimSuffix(root, "/")+"/"); ok && !slices.Contains(paths, in) {
			paths = append(paths, in)
		}
	}
	file := name
	if !filepath.IsAbs(name) {
		file = filepath.Join(dir, name)
	}
	file = filepath.Clean(file)
	add(file, n.dir)
	add(n.withoutLinks(file), n.root)
	if goesUp(name) {
		if real, ok := physical(name, dir); ok {
			add(real, n.root)
		}
	}
	return paths
}

// withoutLinks returns a clean path without links. It looks at each directory once.
func (n *namedFiles) withoutLinks(file string) string {
	dir := filepath.Dir(file)
	if dir == file {
		return file
	}
	real, ok := n.real[file]
	if !ok {
		parent := n.withoutLinks(dir)
		if missing, known := n.real[dir]; !known || missing != "" {
			real = n.lookUp(filepath.Join(parent, filepath.Base(file)))
		}
		n.real[file] = real
	}
	if real == "" {
		return filepath.Join(n.withoutLinks(dir), filepath.Base(file))
	}
	return real
}

// lookUp returns the path of a file in a directory without links; empty: it does not exist.
func (n *namedFiles) lookUp(file string) string {
	switch info, err := os.Lstat(file); {
	case os.IsNotExist(err):
		return ""
	case err == nil && info.Mode()&os.ModeSymlink != 0:
		file, _ = resolve(file)
	}
	return file
}

// match returns whether a file matches a pattern, which ignores case.
func (n *namedFiles) match(pattern string) commandline.Match {
	best := commandline.No
	if n.unknown {
		best = commandline.Maybe
	}
	pattern = strings.ToLower(pattern)
	matches := func(paths []string) bool {
		return slices.ContainsFunc(paths, func(name string) bool { return matchPath(pattern, name) })
	}
	for i := range n.files {
		f := &n.files[i]
		if f.match > best && !slices.ContainsFunc(f.ways, func(paths []string) bool { return !matches(paths) }) {
			best = f.match
		}
	}
	return best
}

// runsLink reports whether a line runs a program by a link to it.
func runsLink(line *commandline.Line, program string) bool {
	return slices.ContainsFunc(line.Commands, func(r commandline.Run) bool {
		name := r.Words[0].Text
		return strings.Contains(name, "/") && slices.ContainsFunc(r.Dirs, func(dir string) bool {
			real, ok := physical(name, dir)
			return ok && strings.EqualFold(filepath.Base(real), program)
		})
	})
}

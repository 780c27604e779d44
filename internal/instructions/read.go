package instructions

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Place is where instructions are looked for.
type Place struct {
	Dir    string // the working directory
	Global string // the user's own file; empty: none
	Most   int    // bytes of all files together

	// May returns an error for a file that must not be read; nil: every file may be. The path is absolute and
	// without links. It is not called for the user's own files.
	May func(path string) error
}

// A File is a file with instructions.
type File struct {
	Path string // absolute, without links
	Text string // valid UTF-8; the end may be cut, with a note
	By   string // the path of the file that imports it; empty: none
	User bool   // it is the user's own
}

// Names are the names of files with instructions, in the order in which those of a directory are read.
var Names = []string{"AGENTS.md", "CLAUDE.md"}

// Limits of the files.
const (
	maxFiles = 50
	maxDepth = 5       // of imports
	maxRead  = 1 << 20 // bytes of a file that is looked at
)

// Read returns the files with instructions: the user's own, then those of the root of the repository, then
// nearer ones, each before the files that it imports. Without a repository only those of the directory count.
// left names the files that were cut or left out because of Most: the farthest first.
func Read(p Place) (files []File, left []string) {
	r := reader{may: p.May}
	if p.Global != "" {
		r.user = true
		r.below(filepath.Dir(p.Global), func() { r.read(filepath.Base(p.Global), "", 0) })
		r.user = false
	}
	dir, err := filepath.EvalSymlinks(p.Dir)
	if err != nil {
		return bounded(r.files, p.Most)
	}
	root := repository(dir)
	r.below(root, func() {
		name, err := filepath.Rel(root, dir)
		if err != nil {
			return
		}
		at := ""
		for _, step := range append([]string{"."}, strings.Split(name, string(filepath.Separator))...) {
			at = filepath.Join(at, step)
			for _, file := range Names {
				r.read(filepath.Join(at, file), "", 0)
			}
		}
	})
	return bounded(r.files, p.Most)
}

// repository returns the root of the repository of a directory, or the directory.
func repository(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if filepath.Dir(at) == at {
			return dir
		}
	}
}

// A reader reads files below a root.
type reader struct {
	may   func(path string) error
	root  *os.Root
	path  string // of the root, without links
	user  bool   // the root is the user's directory for configuration: only Markdown is read
	files []File
}

// below reads with a root. A root that cannot be opened has no files.
func (r *reader) below(root string, read func()) {
	path, err := filepath.EvalSymlinks(root)
	if err != nil {
		return
	}
	if r.root, err = os.OpenRoot(path); err != nil {
		return
	}
	defer func() { _ = r.root.Close() }()
	r.path = path
	read()
}

// read reads a file below the root and what it imports. Files that cannot be read, and those that were read
// before, are left out.
func (r *reader) read(name, by string, depth int) {
	real, err := filepath.EvalSymlinks(filepath.Join(r.path, name))
	if err != nil || len(r.files) == maxFiles {
		return
	}
	inside, err := filepath.Rel(r.path, real)
	if err != nil || !filepath.IsLocal(inside) ||
		slices.ContainsFunc(r.files, func(f File) bool { return f.Path == real }) {
		return
	}
	if r.user {
		if filepath.Ext(real) != ".md" {
			return
		}
	} else if r.may != nil && r.may(real) != nil {
		return
	}
	text, ok := r.text(inside)
	if !ok || slices.ContainsFunc(r.files, func(f File) bool { return f.Text == text }) { // a copy
		return
	}
	r.files = append(r.files, File{Path: real, Text: text, By: by, User: r.user})
	if depth == maxDepth {
		return
	}
	for _, other := range imports(text) {
		if !filepath.IsAbs(other) && !strings.HasPrefix(other, "~") {
			r.read(filepath.Join(filepath.Dir(inside), filepath.FromSlash(other)), real, depth+1)
		}
	}
}

// text returns the text of a regular file. The root follows no link out of it.
func (r *reader) text(name string) (text string, ok bool) {
	info, err := r.root.Lstat(name) // before opening: a pipe would block
	if err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	f, err := r.root.Open(name)
	if err != nil {
		return "", false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxRead))
	text = strings.TrimSpace(string(b))
	if len(b) == maxRead {
		text = strings.ToValidUTF8(text, "")
	}
	return text, err == nil && text != "" && utf8.ValidString(text) && !strings.ContainsRune(text, 0)
}

// imports returns the paths that a text imports: words @path outside of code.
func imports(text string) (paths []string) {
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		for i, part := range strings.Split(line, "`") {
			if i%2 == 1 { // in code
				continue
			}
			for word := range strings.FieldsSeq(part) {
				path, ok := strings.CutPrefix(word, "@")
				if path = strings.TrimRight(path, ".,;:!?)"); ok && path != "" {
					paths = append(paths, path)
				}
			}
		}
	}
	return paths
}

// bounded cuts the farthest files, so that all have at most most bytes.
func bounded(files []File, most int) (out []File, left []string) {
	for _, f := range slices.Backward(files) {
		switch {
		case most >= len(f.Text):
			most -= len(f.Text)
		case most > 1<<10:
			n := len(f.Text)
			f.Text = strings.ToValidUTF8(f.Text[:most], "")
			f.Text += fmt.Sprintf("\n[the last %d bytes of the file were left out]", n-len(f.Text))
			left, most = append(left, f.Path), 0
		default:
			left, most = append(left, f.Path), 0
			continue
		}
		out = append(out, f)
	}
	slices.Reverse(out)
	slices.Reverse(left)
	return out, left
}

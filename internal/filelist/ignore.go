package filelist

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Limits of a .gitignore file.
const (
	maxIgnoreFile = 256 << 10 // bytes
	maxPatterns   = 2000
)

// ignoreFile holds the patterns of the .gitignore of a directory.
type ignoreFile struct {
	dir      string // relative to the root of the listing, "" for the root
	above    string // path from the file's directory to the root, if that is below it
	patterns []pattern
}

// pattern is a line of a .gitignore.
type pattern struct {
	segments []string // of the path; ** matches any number of them
	negated  bool
	dirOnly  bool
}

// parentIgnores returns the .gitignore files above a directory, up to the root of its repository.
func parentIgnores(root string) []ignoreFile {
	var out []ignoreFile
	dir, above := filepath.Clean(root), ""
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			slices.Reverse(out)
			return out
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil // no repository
		}
		above = path.Join(filepath.Base(dir), above)
		dir = parent
		if f, ok := readIgnoreFile(dir, ""); ok {
			f.above = above
			out = append(out, f)
		}
	}
}

// readIgnoreFile reads the .gitignore of a directory. ok is false if the file is missing.
func readIgnoreFile(dir, relative string) (f ignoreFile, ok bool) {
	name := filepath.Join(dir, ".gitignore")
	info, err := os.Lstat(name) // before opening: a pipe would block
	if err != nil || !info.Mode().IsRegular() {
		return ignoreFile{}, false
	}
	file, err := os.Open(name)
	if err != nil {
		return ignoreFile{}, false
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxIgnoreFile))
	if err != nil {
		return ignoreFile{}, false
	}
	f.dir = relative
	for line := range strings.Lines(string(text)) {
		if p, ok := parsePattern(strings.TrimRight(line, "\r\n")); ok && len(f.patterns) < maxPatterns {
			f.patterns = append(f.patterns, p)
		}
	}
	return f, true
}

// parsePattern parses a line. ok is false for an empty line and a comment.
func parsePattern(line string) (p pattern, ok bool) {
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if line == "" || line[0] == '#' {
		return pattern{}, false
	}
	line, p.negated = strings.CutPrefix(line, "!")
	line, p.dirOnly = strings.CutSuffix(line, "/")
	if line == "" {
		return pattern{}, false
	}
	anchored := strings.Contains(line, "/")
	p.segments = strings.Split(strings.TrimPrefix(line, "/"), "/")
	if !anchored {
		p.segments = append([]string{"**"}, p.segments...)
	}
	return p, true
}

// ignored reports whether the last pattern that matches a path ignores it.
func ignored(files []ignoreFile, name string, isDir bool) bool {
	for _, f := range slices.Backward(files) {
		relative := path.Join(f.above, strings.TrimPrefix(strings.TrimPrefix(name, f.dir), "/"))
		segments := strings.Split(relative, "/")
		for _, p := range slices.Backward(f.patterns) {
			if (!p.dirOnly || isDir) && matchSegments(p.segments, segments) {
				return !p.negated
			}
		}
	}
	return false
}

// matchSegments reports whether a pattern matches all of a path.
func matchSegments(pattern, name []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			if len(pattern) == 1 {
				return len(name) > 0
			}
			for i := range name {
				if matchSegments(pattern[1:], name[i:]) {
					return true
				}
			}
			return false
		}
		if len(name) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], name[0]); !ok || err != nil {
			return false
		}
		pattern, name = pattern[1:], name[1:]
	}
	return len(name) == 0
}

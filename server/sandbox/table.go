package sandbox

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// An access is what a process in a sandbox can do with a path and everything below it.
type access int

const (
	read    access = iota // read only
	write                 // read and write
	hidden                // nothing: a directory is empty, a file is empty
	private               // its own empty directory, which ends with the process
)

// A rule is the access of a path, up to the rules below it.
type rule struct {
	path   string // absolute, without links
	source string // what a process sees there; empty: path
	access access
	dir    bool
}

// A table is the rules of a sandbox by path. Its root is read only.
type table map[string]rule

// set sets the access of a path if it exists. Links are followed: the rule is about the target.
func (t table) set(path string, a access) {
	info, err := os.Stat(path)
	if err != nil {
		return
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		t[real] = rule{path: real, access: a, dir: info.IsDir()}
	}
}

// show shows source at a path, which is in a private directory or exists.
func (t table) show(path, source string, a access) {
	if info, err := os.Stat(source); err == nil {
		t[path] = rule{path: path, source: source, access: a, dir: info.IsDir()}
	}
}

// at returns the rule that applies to a path without links.
func (t table) at(path string) rule {
	for {
		if r, ok := t[path]; ok {
			return r
		}
		parent := filepath.Dir(path)
		if parent == path {
			return rule{path: path, access: read, dir: true}
		}
		path = parent
	}
}

// pin makes every directory between a writable one and a protected path in it a rule. Each is a
// mount then, and a mount cannot be renamed: nobody moves a protected path away from its cover.
func (t table) pin() {
	for _, r := range slices.Collect(maps.Values(t)) {
		if r.access == write {
			continue
		}
		for dir := filepath.Dir(r.path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			over := t.at(dir)
			if over.access != write || over.path == dir {
				break
			}
			defer func() { t[dir] = rule{path: dir, access: write, dir: true} }()
		}
	}
}

// rules returns the rules, each after the rules of the directories above it.
func (t table) rules() []rule {
	return slices.SortedFunc(maps.Values(t), func(a, b rule) int { return strings.Compare(a.path, b.path) })
}

// within reports whether a path is a directory or below it. Both are absolute and clean.
func within(dir, path string) bool {
	name, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(name)
}

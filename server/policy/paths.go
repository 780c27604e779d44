package policy

import (
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/server/policy/commandline"
)

// fileName returns the name of a file in dir, without links, or its absolute path if it is not in
// it.
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
	lexical := path
	if !filepath.IsAbs(path) {
		lexical = filepath.Join(start, path)
	}
	for _, find := range []func() (string, bool){
		func() (string, bool) { return resolve(lexical) },
		func() (string, bool) { return physical(path, start) },
	} {
		root, ok := resolve(dir)
		real, resolved := find()
		name, err := filepath.Rel(root, real)
		if !ok || !resolved || err != nil || !filepath.IsLocal(name) {
			return false
		}
	}
	return true
}

// physical returns a path, relative to dir or absolute, as the system finds it: without links, each
// .. after the link before it. ok is false for a path that does not resolve.
func physical(path, dir string) (resolved string, ok bool) {
	if !filepath.IsAbs(path) {
		path = strings.TrimSuffix(dir, "/") + "/" + path
	}
	before, after, up := strings.Cut(path+"/", "/../")
	for up {
		real, ok := resolve(before + "/")
		if !ok {
			return filepath.Clean(path), false
		}
		before, after, up = strings.Cut(strings.TrimSuffix(filepath.Dir(real), "/")+"/"+after, "/../")
	}
	return resolve(before + "/" + after)
}

// names returns whether a call names a file that matches a pattern.
func names(pattern string, c *Call, line *commandline.Line) commandline.Match {
	p := pathRule{pattern: strings.ToLower(pattern), dir: c.Dir}
	for _, file := range slices.Concat(c.Files, c.Named) {
		if p.matches(file, c.Dir) {
			return commandline.Yes
		}
	}
	if c.Kind != protocol.ToolExecute || c.Line == "" && c.Start == "" {
		for _, name := range commandline.Names(c.Text) {
			if p.matches(name, c.Dir) {
				return commandline.Yes
			}
		}
	}
	best := commandline.No
	for f := range line.Files() {
		if best = max(best, p.word(f)); best == commandline.Yes {
			break
		}
	}
	return best
}

// A pathRule is the pattern of a rule, in lower case, in the directory of a session.
type pathRule struct{ pattern, dir string }

// word returns whether a word of a command names a file that the rule matches.
func (p *pathRule) word(f commandline.File) commandline.Match {
	best := commandline.No
	if !f.Word.Known() {
		best = commandline.Maybe // of a link with any name, too
	}
	for _, name := range f.Names() {
		all := len(f.Dirs) > 0
		for _, dir := range f.Dirs {
			ok := p.always(name, dir)
			all = all && ok
			if ok || strings.ContainsRune(dir, commandline.Unknown) && !path.IsAbs(name) && p.matches(path.Base(name), p.dir) {
				best = max(best, commandline.Maybe)
			}
			if ok {
				best = commandline.Yes
			}
		}
	}
	return best
}

// samples are texts that an unknown one may be.
var samples = []string{"x", "", "a/b"}

// always reports whether the rule matches a name in a directory, whatever the unknown parts are.
func (p *pathRule) always(name, dir string) bool {
	if !strings.ContainsRune(name+dir, commandline.Unknown) {
		return p.matches(name, dir)
	}
	for _, s := range samples {
		with := func(text string) string { return strings.ReplaceAll(text, string(commandline.Unknown), s) }
		if !p.matches(with(name), "/"+with(dir)) {
			return false
		}
	}
	return true
}

// matches reports whether the rule matches a file, as it is named or after links are resolved.
func (p *pathRule) matches(name, dir string) bool {
	lexical := filepath.ToSlash(name)
	if !path.IsAbs(lexical) {
		lexical = path.Join(filepath.ToSlash(dir), lexical)
	}
	if p.is(path.Clean(lexical), p.dir) {
		return true
	}
	root, _ := resolve(p.dir)
	real, ok := physical(name, dir)
	return ok && p.is(filepath.ToSlash(real), root)
}

// is reports whether the pattern matches an absolute path, or its name in root.
func (p *pathRule) is(file, root string) bool {
	file, root = strings.ToLower(file), strings.ToLower(filepath.ToSlash(root))
	in, ok := strings.CutPrefix(file, strings.TrimSuffix(root, "/")+"/")
	return matchPath(p.pattern, file) || ok && matchPath(p.pattern, in)
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

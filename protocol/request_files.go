package protocol

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
)

// The names of a file change's arguments that its diff also shows.
var (
	pathNames = []string{
		"file", "fileName", "filePath", "file_path", "filename", "filepath", "path", "target_file",
	}
	oldTextNames = []string{"oldText", "old_str", "old_string", "old_text"}
	newTextNames = []string{
		"content", "file_text", "newText", "new_str", "new_string", "new_text",
	}
)

// Files returns the files that a patch names in its paths, diffs and arguments: absolute, or as
// given if it has no working directory. whole is false if its texts or arguments may name others.
func (a *Approval) Files() (files []string, whole bool) {
	add := func(name string) {
		if name = a.absolute(name); !slices.Contains(files, name) {
			files = append(files, name)
		}
	}
	for _, name := range a.Paths {
		add(name)
	}
	named := false // beyond the places that the agent works at
	for i := range a.Content {
		if c := &a.Content[i]; c.Type == "diff" {
			named = true
			add(c.Path)
		}
	}
	args := ReadArguments(a.Input)
	for _, field := range pathNames {
		if name, ok := args.Text(field); ok && name != "" {
			named = true
			add(name)
		}
	}
	known := func(name string) bool { return slices.Contains(files, a.absolute(name)) }
	for _, name := range patchHeaders(a.Patch) {
		named = true
		if !slices.ContainsFunc(headerPaths(name), known) {
			return files, false
		}
	}
	inexact := func(name string) bool { return !exactText(name) }
	return files, named && exactText(a.Patch) && !slices.ContainsFunc(files, inexact) &&
		(len(a.Input) == 0 || a.tellsPatch(&args, files))
}

func (a *Approval) absolute(name string) string {
	if a.CWD == "" || isAbsolute(name) {
		return path.Clean(name)
	}
	return path.Join(a.CWD, name)
}

// isAbsolute reports whether a path is absolute, on the server's system.
func isAbsolute(name string) bool {
	return path.IsAbs(name) || len(name) > 2 && name[1] == ':' && (name[2] == '\\' || name[2] == '/')
}

// HasNewText reports whether the arguments hold a new text of a file.
func (a *Arguments) HasNewText() bool {
	return slices.ContainsFunc(newTextNames, func(name string) bool { return a.fields[name] != nil })
}

// tellsPatch reports whether the diffs, the patch and the files of a request cover all of its
// arguments.
func (a *Approval) tellsPatch(args *Arguments, files []string) bool {
	if args.opaque != "" {
		return false
	}
	diff := func(shown func(c *Content) bool) bool {
		return slices.ContainsFunc(a.Content, func(c Content) bool { return c.Type == "diff" && shown(&c) })
	}
	return !args.unknown(func(name string, value json.RawMessage) bool {
		text, isText := args.Text(name)
		switch {
		case !isText:
			return false
		case slices.Contains(pathNames, name):
			return slices.Contains(files, a.absolute(text))
		case slices.Contains(oldTextNames, name):
			return diff(func(c *Content) bool { return c.Old != nil && *c.Old == text })
		case slices.Contains(newTextNames, name):
			return diff(func(c *Content) bool { return c.New == text })
		}
		return (name == "diff" || name == "patch") && text == a.Patch
	})
}

// headerMarks begin the lines of patches that name files.
var headerMarks = []string{
	"--- ", "+++ ", "rename from ", "rename to ", "copy from ", "copy to ", "Index: ", "*** Add File: ",
	"*** Update File: ", "*** Delete File: ", "*** Move to: ",
}

// patchHeaders returns the paths of all lines of a patch that may name a file.
func patchHeaders(patch string) (names []string) {
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		for _, mark := range headerMarks {
			if name, ok := strings.CutPrefix(line, mark); ok {
				name, _, _ = strings.Cut(name, "\t")
				if !slices.Contains(headerPaths(name), "/dev/null") {
					names = append(names, name)
				}
			}
		}
		if both, ok := strings.CutPrefix(line, "diff --git "); ok {
			from, to, _ := strings.Cut(both, " b/")
			if strings.TrimPrefix(from, "a/") != to {
				to = both // no name of a file: the patch names others
			}
			names = append(names, "b/"+to)
		}
	}
	return names
}

// headerPaths returns the paths that the header of a patch may mean: after the prefix of git, which
// may stand for the root. A path with ".." means a different file with the prefix than without.
func headerPaths(name string) []string {
	if slices.Contains(strings.Split(name, "/"), "..") {
		return nil
	}
	for _, prefix := range []string{"a/", "b/"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			return []string{rest, "/" + rest}
		}
	}
	return []string{name}
}

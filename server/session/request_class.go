package session

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent/policy"
)

// Names of tools that only read, of known agents. A kind or a title is not enough: they are words
// of the agent.
var readTools = []string{
	"Grep", "LS", "Read", "grep", "grep_search", "list", "list_directory", "ls", "read", "read_file",
	"search_file_content",
}

// The names of the arguments of these tools that hold a path, and those that hold another text.
var (
	readPaths = []string{"absolute_path", "dir_path", "filePath", "file_path", "path"}
	readTexts = []string{"pattern"}
)

// classify returns what a request certainly does in the directory of the session. inside says
// whether a patch changes the files of a.Paths alone, all of them in the directory.
func classify(a *protocol.Approval, dir string, inside bool, own []string) policy.Call {
	c := policy.Call{Kind: protocol.ToolOther, Details: details(a, dir)}
	switch a.Kind {
	case protocol.ApprovePlan:
		c.Plan = true
	case protocol.ApproveQuestion:
		c.Question = true
	case protocol.ApproveCommand:
		c.Kind = protocol.ToolExecute
	case protocol.ApprovePatch:
		c.Kind = protocol.ToolEdit
		protected := func(path string) bool { return policy.Protected(path, own) }
		c.Contained = inside && a.Command == "" && !slices.ContainsFunc(a.Paths, protected)
	default:
		c.Unclear = a.Name == ""
		if readsInside(a, dir) {
			c.Kind, c.Safe, c.Contained = protocol.ToolRead, true, true
		}
	}
	return c
}

// details returns what policy files know of a request.
func details(a *protocol.Approval, dir string) policy.Details {
	args := protocol.ReadArguments(a.Input)
	d := policy.Details{
		Dir: dir, Tool: a.Name, Opaque: len(a.Input) > 0 && args.Opaque() != "", Text: cmp.Or(a.Action(), a.Title),
	}
	if rest, _ := a.RestArguments(); a.Kind == protocol.ApproveCommand && a.Command != "" && rest == "" {
		d.Text = a.Command
		if insideDirectory(cmp.Or(a.CWD, dir), dir) {
			d.Line = a.Command
		}
	}
	paths := slices.Clone(a.Paths)
	for name := range args.Fields() {
		if text, ok := args.Text(name); ok && slices.Contains(readPaths, name) {
			paths = append(paths, text)
		}
	}
	for _, path := range paths {
		d.Files = append(d.Files, fileName(path, dir))
	}
	return d
}

// fileName returns the name of a file in dir, without links, or its absolute path if it is not in
// it.
func fileName(path, dir string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	root, _ := resolve(dir)
	real, _ := resolve(path)
	if name, err := filepath.Rel(root, real); err == nil && filepath.IsLocal(name) {
		return filepath.ToSlash(name)
	}
	return filepath.ToSlash(real)
}

// readsInside reports whether a request is the use of a tool that reads, with arguments that name
// files of the directory and hold nothing else but numbers, switches and a pattern.
func readsInside(a *protocol.Approval, dir string) bool {
	args := protocol.ReadArguments(a.Input)
	if a.Kind != protocol.ApproveTool || !slices.Contains(readTools, a.Name) || a.Command != "" ||
		a.Patch != "" || len(a.Content) > 0 || args.Opaque() != "" {
		return false
	}
	paths := slices.Clone(a.Paths)
	named := false
	for name, value := range args.Fields() {
		text, isText := args.Text(name)
		switch {
		case isText && slices.Contains(readPaths, name):
			paths, named = append(paths, text), true
		case isText && slices.Contains(readTexts, name):
		case !isPlainValue(value):
			return false
		}
	}
	outside := func(path string) bool { return !insideDirectory(path, dir) }
	return named && !slices.ContainsFunc(paths, outside)
}

// isPlainValue reports whether a value is a number, a switch or null.
func isPlainValue(value json.RawMessage) bool { return !strings.ContainsAny(string(value[:1]), `"[{`) }

// insideDirectory reports whether a path, relative to dir or absolute, is in dir after links are
// resolved.
func insideDirectory(path, dir string) bool {
	if path == "" || strings.ContainsRune(path, 0) || !filepath.IsAbs(dir) {
		return false
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	root, ok := resolve(dir)
	real, resolved := resolve(path)
	if !ok || !resolved {
		return false
	}
	name, err := filepath.Rel(root, real)
	return err == nil && filepath.IsLocal(name)
}

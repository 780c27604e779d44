package policy

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/protocol"
)

// The names of tool arguments that hold a path, and of arguments that hold other text.
var (
	pathArguments = []string{"absolute_path", "dir_path", "filePath", "file_path", "path"}
	textArguments = []string{"pattern"}
)

// A Classifier determines the certain effects of an agent's requests.
type Classifier struct {
	Dir string   // working directory of the agent; not absolute: nothing is inside
	Own []string // agentctl's own directories, absolute and without links

	// ReadTools names the tools of the agent that only read. A kind or a title of a request is not
	// enough: they are words of the agent.
	ReadTools []string
}

// Classify returns the certain effect of a request in the directory. It replaces the paths of a
// patch with the files that it changes; whole reports whether the list is complete and all files
// are in the directory. It reads links of the file system, but no contents.
func (k *Classifier) Classify(a *protocol.Approval) (c Call, whole bool) {
	whole = a.Kind != protocol.ApprovePatch || resolveFiles(a, k.Dir)
	c = k.details(a)
	switch a.Kind {
	case protocol.ApprovePlan:
		c.Plan = true
	case protocol.ApproveQuestion:
		c.Question = true
	case protocol.ApproveCommand:
		c.Kind = protocol.ToolExecute
	case protocol.ApprovePatch:
		c.Kind = protocol.ToolEdit
		own := func(path string) bool { return slices.Contains(k.Own, path) || Internal(path, k.Own) }
		if whole && a.Command == "" && !slices.ContainsFunc(a.Paths, own) {
			c.Protected = k.protected(a.Paths)
			c.Contained = len(c.Protected) == 0
		}
	default:
		c.Unclear = a.Name == ""
		switch {
		case k.readsInside(a):
			c.Kind, c.Safe, c.Contained = protocol.ToolRead, true, true
		case k.changes(a):
			c.Kind = protocol.ToolEdit
		}
	}
	return c, whole
}

// protected returns the names of the protected files of some.
func (k *Classifier) protected(paths []string) (names []string) {
	for _, path := range paths {
		if Protected(path, nil) {
			names = append(names, fileName(path, k.Dir))
		}
	}
	return names
}

// details returns a call without an effect, with the facts of a request that policy files use.
func (k *Classifier) details(a *protocol.Approval) Call {
	args := protocol.ReadArguments(a.Input)
	c := Call{
		Kind: protocol.ToolOther, Dir: k.Dir, Tool: a.Name, Opaque: len(a.Input) > 0 && args.Opaque() != "",
		Text: cmp.Or(a.Action(), a.Title),
	}
	if rest, _ := a.RestArguments(); a.Kind == protocol.ApproveCommand && a.Command != "" && rest == "" {
		c.Text, c.Start = a.Command, cmp.Or(a.CWD, k.Dir)
		if !filepath.IsAbs(c.Start) {
			c.Start = filepath.Join(k.Dir, c.Start)
		}
		if inside(c.Start, k.Dir) {
			c.Line = a.Command
		}
	}
	paths := slices.Clone(a.Paths)
	for name := range args.Fields() {
		if text, ok := args.Text(name); ok && slices.Contains(pathArguments, name) {
			paths = append(paths, text)
		}
	}
	for _, path := range paths {
		c.Files = append(c.Files, fileName(path, k.Dir))
	}
	c.Named = paths
	return c
}

// readsInside reports whether a request uses a reading tool with arguments that name only files of
// the directory, numbers, switches and a text.
func (k *Classifier) readsInside(a *protocol.Approval) bool {
	args := protocol.ReadArguments(a.Input)
	if a.Kind != protocol.ApproveTool || !slices.Contains(k.ReadTools, a.Name) ||
		a.Command != "" || a.Patch != "" || len(a.Content) > 0 || args.Opaque() != "" {
		return false
	}
	paths := slices.Clone(a.Paths)
	named := false
	for name, value := range args.Fields() {
		text, isText := args.Text(name)
		switch {
		case isText && slices.Contains(pathArguments, name):
			paths, named = append(paths, text), true
		case isText && slices.Contains(textArguments, name):
		case !isPlainValue(value):
			return false
		}
	}
	outside := func(path string) bool { return !inside(path, k.Dir) }
	return named && !slices.ContainsFunc(paths, outside)
}

// changes reports whether a request of another kind carries a change of a file.
func (k *Classifier) changes(a *protocol.Approval) bool {
	isDiff := func(c protocol.Content) bool { return c.Type == "diff" }
	args := protocol.ReadArguments(a.Input)
	return a.Patch != "" || slices.ContainsFunc(a.Content, isDiff) ||
		slices.Contains(k.ReadTools, a.Name) && args.HasNewText()
}

// isPlainValue reports whether a value is a number, a switch or null.
func isPlainValue(value json.RawMessage) bool { return !strings.ContainsAny(string(value[:1]), `"[{`) }

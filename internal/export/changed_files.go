package export

import (
	"cmp"
	"slices"

	"agentctl/protocol"
	"agentctl/tui/diff"
	"agentctl/tui/filechange"
	"agentctl/tui/transcript"
)

// ChangedFiles returns the files that completed tool calls of a turn changed, by path.
func ChangedFiles(items []*protocol.Item) []protocol.ChangedFile {
	byPath := map[string]*protocol.ChangedFile{}
	for _, it := range items {
		t := it.Tool
		if t == nil || t.End == nil || t.End.Status != protocol.ToolCompleted {
			continue
		}
		files := filechange.FromContent(t.Content, transcript.Clean)
		if len(files) == 0 {
			files = filechange.FromArguments(t.Kind, t.Input, transcript.Clean)
		}
		for i := range files {
			addChanges(byPath, &files[i])
		}
	}
	var out []protocol.ChangedFile
	for _, f := range byPath {
		out = append(out, *f)
	}
	slices.SortFunc(out, func(a, b protocol.ChangedFile) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

func addChanges(byPath map[string]*protocol.ChangedFile, f *diff.File) {
	path := f.Path()
	if byPath[path] == nil {
		byPath[path] = &protocol.ChangedFile{Path: path}
	}
	added, removed := f.Stat()
	byPath[path].Added += added
	byPath[path].Removed += removed
}

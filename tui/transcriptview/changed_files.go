package transcriptview

import (
	"cmp"
	"maps"
	"slices"

	"agentctl/protocol"
	"agentctl/tui/filechange"
	"agentctl/tui/transcript"
)

// ChangedFile is a file that completed tool calls have changed, with the sums of their lines.
type ChangedFile struct {
	Path           string // clean
	Added, Removed int
}

// changeSums is the sums of changes by path.
type changeSums map[string]ChangedFile

func (c changeSums) add(files []ChangedFile) {
	for _, f := range files {
		sum := c[f.Path]
		c[f.Path] = ChangedFile{f.Path, sum.Added + f.Added, sum.Removed + f.Removed}
	}
}

// ChangedFiles returns the files that the tool calls of the list have changed, by path, and those of
// older turns that are known. It compares the texts of a call once.
func (v *View) ChangedFiles() []ChangedFile {
	if v.changedCounted {
		return v.changed
	}
	v.changedCounted = true
	sums := changeSums{}
	older, first := v.olderSteps()
	for i := range older {
		sums.add(counts(&older[i].Step))
	}
	for id := first; id <= v.List.Last(); id++ {
		if call, ok := v.List.Item(id).(*toolCall); ok {
			call.count(sums)
		}
	}
	v.changed = slices.SortedFunc(maps.Values(sums), func(a, b ChangedFile) int { return cmp.Compare(a.Path, b.Path) })
	return v.changed
}

// counts returns the lines of the files of a step.
func counts(step *filechange.Step) (out []ChangedFile) {
	for _, f := range step.Files {
		added, removed := f.Stat()
		out = append(out, ChangedFile{f.Path(), added, removed})
	}
	return out
}

// count adds the changes of a call and of the calls nested in it.
func (t *toolCall) count(sums changeSums) {
	if !t.counted && t.completed() {
		t.counted = true
		for _, step := range t.appendStep(nil) {
			t.counts = append(t.counts, counts(&step)...)
		}
	}
	sums.add(t.counts)
	for _, n := range t.nested {
		if n.call != nil {
			n.call.count(sums)
		}
	}
}

// Steps returns the file changes of the completed tool calls in a range of items.
func Steps(list *transcript.List, first, last transcript.ID) (steps []filechange.Step) {
	for id := first; id <= last; id++ {
		if call, ok := list.Item(id).(*toolCall); ok {
			steps = call.appendSteps(steps)
		}
	}
	return steps
}

// appendSteps appends the changes of a call and of the calls nested in it.
func (t *toolCall) appendSteps(dst []filechange.Step) []filechange.Step {
	dst = t.appendStep(dst)
	for _, n := range t.nested {
		if n.call != nil {
			dst = n.call.appendSteps(dst)
		}
	}
	return dst
}

// appendStep appends the changes of a completed call. A patch that it printed is none.
func (t *toolCall) appendStep(dst []filechange.Step) []filechange.Step {
	if !t.completed() {
		return dst
	}
	defer t.releaseCache()
	c := t.fileChanges()
	if c == nil || t.cache.outputIsPatch {
		return dst
	}
	return append(dst, filechange.Step{Label: t.styles.Clock(t.item.Started), Files: c.Files()})
}

func (t *toolCall) completed() bool {
	return t.item.Tool.End != nil && t.item.Tool.End.Status == protocol.ToolCompleted
}

// Turn returns the first and the last item of the turn of an item.
func Turn(list *transcript.List, id transcript.ID) (first, last transcript.ID) {
	starts := func(id transcript.ID) bool {
		_, ok := list.Item(id).(*userMessage)
		return ok
	}
	for first = id; first > list.First() && !starts(first); {
		first--
	}
	for last = id; last < list.Last() && !starts(last+1); {
		last++
	}
	return first, last
}

package transcriptview

import (
	"cmp"
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

// ChangedFiles returns the files that the tool calls of the list have changed, by path. It compares
// the texts of a call once.
func (v *View) ChangedFiles() []ChangedFile {
	if v.changedCounted {
		return v.changed
	}
	v.changedCounted = true
	byPath := map[string]*ChangedFile{}
	for id := v.List.First(); id <= v.List.Last(); id++ {
		if call, ok := v.List.Item(id).(*toolCall); ok {
			call.count(byPath)
		}
	}
	v.changed = nil
	for _, f := range byPath {
		v.changed = append(v.changed, *f)
	}
	slices.SortFunc(v.changed, func(a, b ChangedFile) int { return cmp.Compare(a.Path, b.Path) })
	return v.changed
}

// count adds the changes of a call and of the calls nested in it.
func (t *toolCall) count(byPath map[string]*ChangedFile) {
	if !t.counted && t.completed() {
		t.counted = true
		for _, step := range t.appendStep(nil) {
			for _, f := range step.Files {
				added, removed := f.Stat()
				t.counts = append(t.counts, ChangedFile{f.Path(), added, removed})
			}
		}
	}
	for _, f := range t.counts {
		sum := byPath[f.Path]
		if sum == nil {
			sum = &ChangedFile{Path: f.Path}
			byPath[f.Path] = sum
		}
		sum.Added, sum.Removed = sum.Added+f.Added, sum.Removed+f.Removed
	}
	for _, n := range t.nested {
		if n.call != nil {
			n.call.count(byPath)
		}
	}
}

// Steps returns the file changes of the completed tool calls in a range of items.
func (v *View) Steps(first, last transcript.ID) (steps []filechange.Step) {
	for id := first; id <= last; id++ {
		if call, ok := v.List.Item(id).(*toolCall); ok {
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
	if c == nil || t.outputIsPatch {
		return dst
	}
	return append(dst, filechange.Step{Label: t.styles.Clock(t.item.Started), Files: c.Files()})
}

func (t *toolCall) completed() bool {
	return t.item.Tool.End != nil && t.item.Tool.End.Status == protocol.ToolCompleted
}

// Turn returns the first and the last item of the turn of an item.
func (v *View) Turn(id transcript.ID) (first, last transcript.ID) {
	starts := func(id transcript.ID) bool {
		_, ok := v.List.Item(id).(*userMessage)
		return ok
	}
	for first = id; first > v.List.First() && !starts(first); {
		first--
	}
	for last = id; last < v.List.Last() && !starts(last+1); {
		last++
	}
	return first, last
}

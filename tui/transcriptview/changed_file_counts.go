package transcriptview

import (
	"cmp"
	"slices"

	"agentctl/protocol"
	"agentctl/tui/filechange"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// maxPendingCalls bounds the calls whose changes are not counted yet. Older ones are not counted.
const maxPendingCalls = 50

// ChangedFile is a file that completed tool calls have changed, with the sums of their lines.
type ChangedFile struct {
	Path           string // clean
	Added, Removed int
}

// changedFiles counts the changes of tool calls to files. It compares texts only when the files are
// asked for.
type changedFiles struct {
	pending []*protocol.ToolItem
	files   []ChangedFile // the last changed one first
}

// add adds a completed call.
func (c *changedFiles) add(call *protocol.ToolItem) {
	if call.End == nil || call.End.Status != protocol.ToolCompleted {
		return
	}
	c.pending = append(c.pending, call)
	if n := len(c.pending); n >= 2*maxPendingCalls {
		c.pending = slices.Clone(c.pending[n-maxPendingCalls:])
	}
}

// count counts the changes of the pending calls.
func (c *changedFiles) count() {
	for _, call := range c.pending[max(0, len(c.pending)-maxPendingCalls):] {
		files := filechange.FromContent(call.Content, transcript.Clean)
		if len(files) == 0 {
			files = filechange.FromArguments(call.Kind, call.Input, transcript.Clean)
		}
		for i := range files {
			added, removed := files[i].Stat()
			c.addFile(ChangedFile{cmp.Or(files[i].New, files[i].Old), added, removed})
		}
	}
	c.pending = nil
}

// addFile adds a change of a file and moves the file to the front.
func (c *changedFiles) addFile(f ChangedFile) {
	if i := slices.IndexFunc(c.files, func(o ChangedFile) bool { return o.Path == f.Path }); i >= 0 {
		f.Added, f.Removed = f.Added+c.files[i].Added, f.Removed+c.files[i].Removed
		c.files = slices.Delete(c.files, i, i+1)
	}
	c.files = slices.Insert(c.files, 0, f)
}

// ChangedFiles returns the files that tool calls have changed since the start of the transcript on
// the screen, the last changed one first.
func (v *View) ChangedFiles() []ChangedFile {
	v.changed.count()
	return v.changed.files
}

// ChangedFiles returns the files that a completed tool call changed. ok is false for other items.
func ChangedFiles(s *ui.Styles, item transcript.Item) (step filechange.Step, ok bool) {
	call, isCall := item.(*toolCall)
	if !isCall || call.item.Tool.End == nil || call.item.Tool.End.Status != protocol.ToolCompleted {
		return step, false
	}
	defer call.releaseCache()
	c := call.fileChanges()
	if c == nil || call.outputIsPatch {
		return step, false
	}
	return filechange.Step{Label: s.Clock(call.item.Started), Files: c.Files()}, true
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

package transcriptview

import (
	"agentctl/protocol"
	"agentctl/tui/filechange"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

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

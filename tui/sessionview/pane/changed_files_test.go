package pane

import (
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// editedTwice is a session with two turns that change one file, and a failed change.
func editedTwice() *tuitest.Journal {
	j := tuitest.NewJournal()
	edit := func(id, old, text string, status protocol.ToolStatus) {
		j.Add(protocol.ToolStarted, protocol.ToolStartedData{Tool: id, Name: "edit", Kind: protocol.ToolEdit})
		j.Add(protocol.ToolOutput, protocol.ToolOutputData{
			Tool: id, Content: []protocol.Content{{Type: "diff", Path: "a.go", Old: &old, New: text}},
		})
		j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: id, Status: status})
	}
	j.UserMessage(tuitest.Ada, "m1", "First.")
	edit("one", "x\n", "first\n", protocol.ToolCompleted)
	edit("two", "x\n", "refused\n", protocol.ToolFailed)
	j.EndTurn(protocol.ReasonCompleted)
	j.UserMessage(tuitest.Ada, "m2", "Second.")
	edit("three", "first\n", "second\n", protocol.ToolCompleted)
	j.EndTurn(protocol.ReasonCompleted)
	j.CaughtUp()
	return j
}

func TestTheFilesOfASessionAreReviewed(t *testing.T) {
	s := open(t, editedTwice(), 80, 24)
	s.press("f9")
	s.MustShow("files changed in this session · 1 file +2 −2", "+ first", "+ second")
	s.MustHide("refused")
	s.MustHide("comment")
	s.press("y", "n", "a", "c", "enter", "tab")
	s.MustSendNothing()
	s.press("esc")
	s.MustHide("files changed")
}

func TestTheFilesOfATurnOrACallAreReviewed(t *testing.T) {
	s := open(t, editedTwice(), 80, 40)
	s.press("tab")
	s.press("G", "f") // the end of the second turn
	s.MustShow("files changed in this turn · 1 file +1 −1", "+ second")
	s.MustHide("+ first")
	s.press("esc", "g", "f")
	s.MustShow("files changed in this turn · 1 file +1 −1", "+ first")
	s.press("esc", "t", "f")
	s.MustShow("files changed by this call · 1 file +1 −1", "+ first")
}

package sessionview

import (
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// An undone message can be edited and sent again, unless another is being written.
func TestAnUndoneMessageIsInTheComposer(t *testing.T) {
	for draft, want := range map[string]string{"": "fix the tests", "a draft": "a draft"} {
		s := open(t, tuitest.Scenes["settings"](), 100, 40)
		s.session.Reply = func(tuitest.Command) (any, error) {
			return protocol.UndoResult{Message: protocol.Message{Text: "fix the \x1b[2Jtests"}}, nil
		}
		s.typeText(draft)
		s.press("ctrl+k")
		s.typeText("undo")
		s.press("enter")
		s.mustSend(protocol.DoUndo)
		if got := s.m.composer.Text(); got != want {
			t.Errorf("with the draft %q the composer has %q", draft, got)
		}
	}
}

func TestAForkTellsItsSession(t *testing.T) {
	s := open(t, tuitest.Scenes["settings"](), 100, 40)
	s.session.Reply = func(tuitest.Command) (any, error) { return protocol.CreateResult{Session: "s_new"}, nil }
	s.press("ctrl+k")
	s.typeText("fork")
	s.press("enter")
	s.mustSend(protocol.DoFork)
	s.mustShow("forked as session s_new")
}

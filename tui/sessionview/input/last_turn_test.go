package input

import (
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/keymap"
)

// An undone message can be edited and sent again, unless another is being written.
func TestAnUndoneMessageIsInTheComposer(t *testing.T) {
	for draft, want := range map[string]string{"": "fix the tests", "a draft": "a draft"} {
		s := open(t, tuitest.Scenes["settings"](), 100)
		s.Session.Reply = func(tuitest.Command) (any, error) {
			return protocol.UndoResult{Message: protocol.Message{Text: "fix the \x1b[2Jtests"}}, nil
		}
		s.typeText(draft)
		s.act(keymap.UndoTurn)
		s.MustSend(protocol.DoUndo)
		if got := s.in.composer.Text(); got != want {
			t.Errorf("with the draft %q the composer has %q", draft, got)
		}
	}
}

func TestAForkTellsItsSession(t *testing.T) {
	s := open(t, tuitest.Scenes["settings"](), 100)
	s.Session.Reply = func(tuitest.Command) (any, error) { return protocol.CreateResult{Session: "s_new"}, nil }
	s.act(keymap.ForkSession)
	s.MustSend(protocol.DoFork)
	s.MustShow("forked as session s_new")
}

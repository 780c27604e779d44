package sessionview

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// outlineScreens are the golden screens of the turns.
var outlineScreens = []struct {
	name          string
	width, height int
}{{"turns_40x12", 40, 12}, {"turns_80x24", 80, 24}, {"turns_200x20", 200, 20}}

// outlineJournal returns a session with turns of every kind.
func outlineJournal() *tuitest.Journal {
	j := tuitest.Conversation()
	j.Add(protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonInterrupted, DurationMS: 65_000})
	j.UserMessage(tuitest.Ada, "m3", "Deploy\x1b[2J it\nto production")
	j.Add(protocol.TurnEnded, protocol.TurnEndedData{
		Reason: protocol.ReasonError, DurationMS: 900, Usage: &protocol.Usage{Cost: 0.1234, Currency: "USD"},
	})
	j.UserMessage(tuitest.Bob, "m4", "Tidy the module, please, and tell me which of the imports are no longer needed")
	j.RequestApproval(tuitest.CommandApproval())
	j.CaughtUp()
	return j
}

func TestGoldenTurns(t *testing.T) {
	for _, c := range outlineScreens {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, outlineJournal(), c.width, c.height)
			s.press("f10", "up")
			tuitest.Golden(t, s.text())
		})
	}
}

func TestTurnsTypeIntoTheFilterOnly(t *testing.T) {
	s := open(t, outlineJournal(), 80, 24)
	s.press("tab", "f10")
	s.typeText("qyndO/jk ")
	s.update(tea.PasteMsg{Content: "pasted"})
	s.mustShow("filter: qyndO/jk pasted")
	if sent := s.session.Commands(); len(sent) > 0 {
		t.Errorf("the filter sends %v", sent)
	}
	s.press("esc")
	if text := s.m.input.Composer().Value(); text != "" {
		t.Errorf("the message is %q", text)
	}
}

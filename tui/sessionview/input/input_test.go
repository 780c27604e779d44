package input

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestPasteSanitized(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80)
	s.update(tea.PasteMsg{Content: "a\x1b[31mb\r\nc"})
	if got := s.in.composer.Value(); got != "ab\nc" {
		t.Errorf("got pasted text %q", got)
	}
}

func TestAnEmptyMessageNamesItsReceiver(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80)
	s.MustShow("> Queue a message for gemini · / commands · @ files · ! shell")
	s.typeText("x")
	s.MustHide("Queue a message")
	s.keys("backspace")
	s.in.SetFocus(false)
	s.MustHide("Queue a message") // keys do not write
	s.in.SetFocus(true)
	s.Journal.Add(protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
	s.ApplyJournal()
	s.MustShow("> Message gemini")
	s.in.Elsewhere = true
	if lines, _ := s.in.View(80, 5); len(lines) > 0 {
		t.Errorf("an empty composer has lines %q while another view has the keys", lines)
	}
	s.typeText("x")
	if lines, _ := s.in.View(80, 5); len(lines) != 1 {
		t.Errorf("got lines %q, want the unsent message", lines)
	}
}

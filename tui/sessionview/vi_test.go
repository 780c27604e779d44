package sessionview

import (
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestEscLeavesTheInsertModeOfViBeforeItInterrupts(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24) // a turn runs
	s.m.composer.SetVi()
	s.typeText("one two")
	s.mustShow("─ insert ─")
	s.press("esc")
	s.mustShow("─ normal ─")
	s.mustSendNothing()
	s.typeText("bD!")
	s.mustCompose("one ")
	s.press("esc")
	s.mustSend(protocol.DoInterrupt)
	s.mustCompose("one ")
	s.press("enter")
	if d := s.mustSend(protocol.DoSend).(protocol.SendData); d.Text != "one" {
		t.Errorf("sent %q", d.Text)
	}
	s.mustShow("─ insert ─")
}

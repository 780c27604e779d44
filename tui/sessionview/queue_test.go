package sessionview

import (
	"testing"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
)

// takeCommands returns and forgets the commands sent since the last call, without history.
func (s *testScreen) takeCommands() []tuitest.Command {
	s.t.Helper()
	got := s.session.Commands()
	s.session.Mu.Lock()
	s.session.Sent = nil
	s.session.Mu.Unlock()
	return got
}

func TestQueueEditHeldOverReconnect(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 100, 24)
	s.press("tab", "e")
	s.mustSend(protocol.DoQueueHold)
	s.journal.AddBy(tuitest.Ada, protocol.QueueHeld, protocol.Hold{
		ID: "h9", Reason: protocol.HoldEdit, MessageID: "m3", By: &tuitest.Ada,
	})
	s.applyJournal()
	s.journal.Conn(remote.Conn{State: remote.Reconnecting, Attempt: 1})
	s.applyJournal()
	s.now = s.now.Add(6 * time.Second)
	s.tick()
	s.mustShow("editing · held for 24s more")
	s.typeText(" More.")
	s.mustSendNothing()
	s.journal.Reconnect(protocol.ModeResume, 0)
	s.journal.CaughtUp()
	s.applyJournal()
	if data := s.mustSend(protocol.DoQueueHold).(protocol.QueueHoldData); data.MessageID != "m3" {
		t.Errorf("got hold of %+v, want m3", data)
	}
	s.mustHide("held for 24s")
	s.mustShow("editing a queued message")
	s.applyJournal()
	s.mustSendNothing()
	s.press("enter")
	s.mustSend(protocol.DoQueueEdit)
}

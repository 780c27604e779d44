package sessionview

import (
	"reflect"
	"testing"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// scheduledAt is the time of the scheduled messages in tests.
var scheduledAt = time.Date(2026, 3, 2, 7, 30, 0, 0, time.UTC)

// openScheduled opens a session with a queued message and a scheduled one of a user. The queue has
// the focus, the scheduled message is selected.
func openScheduled(t *testing.T, by protocol.Actor, width int) *testScreen {
	t.Helper()
	j := tuitest.Conversation()
	j.QueueMessage(tuitest.Ada, "m3", "one")
	at := scheduledAt
	m := protocol.Message{
		MessageID: "later", Text: "update the dependencies", NotBefore: &at, By: &by,
		Parts: []protocol.Part{{Type: "image"}},
	}
	j.AddBy(by, protocol.QueueScheduled, protocol.QueueScheduledData{Message: m})
	j.CaughtUp()
	s := open(t, j, width, 24)
	s.press("tab", "down")
	return s
}

func TestAScheduledMessageIsEditedAndKeepsItsFiles(t *testing.T) {
	s := openScheduled(t, tuitest.Bob, 100)
	s.press("e")
	s.mustShow("> update the dependencies", "editing a scheduled message")
	s.typeText(" now")
	s.press("enter")
	want := []tuitest.Command{
		{Verb: protocol.DoQueueHold, Data: protocol.QueueHoldData{MessageID: "later"}},
		{Verb: protocol.DoQueueEdit, Data: protocol.QueueEditData{
			MessageID: "later", Text: "update the dependencies now", Parts: []protocol.Part{{Type: "image"}},
		}},
	}
	if got := s.takeCommands(); !reflect.DeepEqual(got, want) {
		t.Errorf("got commands %+v, want %+v", got, want)
	}
}

func TestACancelledScheduledMessageReturnsAtItsTime(t *testing.T) {
	s := openScheduled(t, tuitest.Ada, 100)
	s.reportRemovals()
	s.press("delete")
	s.mustShow("removed 1 message · ctrl+z undo")
	s.takeCommands()
	s.press("ctrl+z")
	got := s.takeCommands()
	if len(got) == 0 || got[0].Verb != protocol.DoSend {
		t.Fatalf("got commands %+v", got)
	}
	data := got[0].Data.(protocol.SendData)
	if data.NotBefore == nil || !data.NotBefore.Equal(scheduledAt) || len(data.Parts) != 1 {
		t.Errorf("sent %+v", data)
	}
}

func TestAScheduledMessageIsSentNow(t *testing.T) {
	send := protocol.SendData{
		Text: "update the dependencies", Parts: []protocol.Part{{Type: "image"}}, ClientMessageID: "client-m101",
		Front: true,
	}
	want := []tuitest.Command{
		{Verb: protocol.DoQueueRemove, Data: protocol.QueueRemoveData{MessageID: "later"}},
		{Verb: protocol.DoSend, Data: send},
		{Verb: protocol.DoInterrupt, Data: protocol.InterruptData{Turn: "turn-m2", Queue: protocol.QueueKeep}},
	}
	s := openScheduled(t, tuitest.Ada, 100)
	s.reportRemovals()
	s.press("s")
	if got := s.takeCommands(); !reflect.DeepEqual(got, want) {
		t.Errorf("got commands %+v, want %+v", got, want)
	}

	s = openScheduled(t, tuitest.Bob, 100)
	s.reportRemovals()
	s.press("s")
	s.mustShow("send the message of bob now, in your name?")
	s.press("enter") // cancel is chosen
	if got := s.takeCommands(); len(got) != 0 {
		t.Errorf("got commands %+v", got)
	}
}

func TestAScheduledMessageThatCannotBeSentReturnsToTheComposer(t *testing.T) {
	s := openScheduled(t, tuitest.Ada, 100)
	s.session.Reply = func(c tuitest.Command) (any, error) {
		if c.Verb == protocol.DoSend {
			return nil, tuitest.ErrRefused
		}
		return protocol.QueueRemoveResult{Removed: true}, nil
	}
	s.press("s")
	s.mustShow("> update the dependencies", "observers may not do that")
}

func TestTheSideColumnHasScheduledMessages(t *testing.T) {
	s := openScheduled(t, tuitest.Bob, 140)
	s.press("esc", "alt+p")
	s.mustShow("queue 1 · 1 scheduled", "◷ update the depe", "2 Mar 07:30")
	s.now = time.Date(2026, 3, 2, 0, 30, 0, 0, time.UTC)
	s.press("alt+p", "alt+p")
	s.mustHide("2 Mar")
	s.journal.Add(protocol.QueueRemoved, protocol.QueueRemovedData{MessageID: "m3", Reason: protocol.RemovedUser})
	s.applyJournal()
	s.mustShow("queue 1 scheduled")
	s.mustShow("◷ update the dependencies    07:30")
}

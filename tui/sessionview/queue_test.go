package sessionview

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/ui"
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

func TestQueueSendNow(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 80, 24) // held by bob; a turn is running
	s.press("tab", "down", "s")
	want := []tuitest.Command{
		{Verb: protocol.DoQueueMove, Data: protocol.QueueMoveData{MessageID: "m4", Index: 0}},
		{Verb: protocol.DoQueueRelease, Data: protocol.QueueReleaseData{Hold: "h1"}},
		{Verb: protocol.DoInterrupt, Data: protocol.InterruptData{Turn: "turn-m2", Queue: protocol.QueueKeep}},
	}
	if got := s.takeCommands(); !reflect.DeepEqual(got, want) {
		t.Errorf("got commands %+v, want %+v", got, want)
	}

	s = open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.journal.QueueMessage(tuitest.Ada, "m3", "alone")
	s.applyJournal()
	s.press("tab")
	cmd := s.m.Update(tuitest.KeyPress("s"))
	s.mustShow("sending now …")
	s.press("s", "s")
	s.run(cmd)
	if got := s.takeCommands(); len(got) != 1 || got[0].Verb != protocol.DoInterrupt {
		t.Errorf("got commands %+v, want one interrupt", got)
	}
	s.mustHide("sending now …")
}

func TestQueueSendNowStopsOnError(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 80, 24)
	s.refuse(tuitest.ErrRefused)
	s.press("tab", "down", "s")
	s.mustSend(protocol.DoQueueMove)
	s.mustShow("observers may not do that")
	s.mustHide("sending now …")
}

func TestQueuePaging(t *testing.T) {
	s := open(t, tuitest.Scenes["long queue"](), 80, 24)
	s.press("tab")
	s.mustShow("queue · 20 messages", "▸ 1 Message 1 of many", "↓ 14 more")
	s.press("pgdown")
	s.mustShow("▸ 7 Message 7 of many", "↑ 3 more · ↓ 11 more")
	s.press("G")
	s.mustShow("▸ 20 Message 20 of many", "↑ 14 more")
	s.press("pgup", "up")
	s.mustShow("▸ 13 Message 13 of many")
	s.press("g")
	s.mustShow("▸ 1 Message 1 of many")
}

func TestQueueSelectedMessageRemoved(t *testing.T) {
	s := open(t, tuitest.Scenes["long queue"](), 100, 24)
	s.press("tab", "down", "down")
	s.mustShow("▸ 3 Message 3 of many")
	s.journal.AddBy(tuitest.Bob, protocol.QueueRemoved, protocol.QueueRemovedData{
		MessageID: "m5", Reason: protocol.RemovedUser,
	})
	s.applyJournal()
	s.mustShow("▸ 3 Message 4 of many", "bob removed the selected message")
	s.press("delete")
	if data := s.mustSend(protocol.DoQueueRemove).(protocol.QueueRemoveData); data.MessageID != "m6" {
		t.Errorf("got removal of %+v, want m6", data)
	}
	s.journal.AddBy(tuitest.Ada, protocol.QueueRemoved, protocol.QueueRemovedData{
		MessageID: "m6", Reason: protocol.RemovedUser,
	})
	s.applyJournal()
	s.mustShow("▸ 3 Message 5 of many")
	s.mustHide("removed the selected message")
}

func TestQueueHoldCountdown(t *testing.T) {
	s := open(t, tuitest.Scenes["long queue"](), 80, 30)
	s.press("tab", "pgdown", "down")
	s.mustShow("edited by bob")
	s.mustHide("who left")
	s.journal.Ephemeral(protocol.ClientDetached, protocol.Client{Client: "c2", By: tuitest.Bob})
	s.applyJournal()
	s.mustShow("edited by bob, who left: 30s")
	s.now = s.now.Add(12 * time.Second)
	s.update(tickMsg{})
	s.mustShow("edited by bob, who left: 18s")
	s.journal.Ephemeral(protocol.ClientAttached, protocol.Client{Client: "c3", By: tuitest.Bob})
	s.applyJournal()
	s.mustShow("edited by bob")
	s.mustHide("who left")
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
	s.update(tickMsg{})
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

func TestQueueEditHoldExpired(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 100, 24)
	s.press("tab", "e")
	s.journal.AddBy(tuitest.Ada, protocol.QueueHeld, protocol.Hold{
		ID: "h9", Reason: protocol.HoldEdit, MessageID: "m3", By: &tuitest.Ada,
	})
	s.journal.Conn(remote.Conn{State: remote.Reconnecting, Attempt: 1})
	s.applyJournal()
	s.now = s.now.Add(time.Minute)
	s.update(tickMsg{})
	s.mustShow("editing · no longer held")
}

func TestQueueLongMessage(t *testing.T) {
	j := tuitest.Conversation()
	j.QueueMessage(tuitest.Ada, "m3", strings.Repeat("漢", 80_000))
	j.CaughtUp()
	s := open(t, j, 80, 24)
	s.mustShow("1 漢漢")
	if n := len(ui.Excerpt(s.m.replica.State.Queue[0].Text)); n > 2*2<<10 {
		t.Errorf("got an excerpt of %d bytes for one row", n)
	}
}

// editQueued returns a screen with a draft on which the first queued message is being edited.
func editQueued(t *testing.T) *testScreen {
	t.Helper()
	s := open(t, tuitest.Scenes["queue"](), 100, 24)
	s.typeText("a draft")
	s.press("tab", "e")
	s.journal.AddBy(tuitest.Ada, protocol.QueueHeld, protocol.Hold{
		ID: "h9", Reason: protocol.HoldEdit, MessageID: "m3", By: &tuitest.Ada,
	})
	s.applyJournal()
	return s
}

func TestQueueEditEndsWhenRemoved(t *testing.T) {
	for _, reason := range []string{protocol.RemovedUser, protocol.RemovedStarted, protocol.RemovedCleared} {
		s := editQueued(t)
		s.mustShow("editing a queued message")
		s.journal.AddBy(tuitest.Bob, protocol.QueueRemoved, protocol.QueueRemovedData{MessageID: "m3", Reason: reason})
		s.applyJournal()
		s.mustShow("the edited message is no longer queued", "> a draft")
		if s.m.composer.Editing != "" {
			t.Errorf("%s: the composer still edits %s", reason, s.m.composer.Editing)
		}
	}
}

func TestTheTextOfAnEditStaysWhenItsMessageIsRemoved(t *testing.T) {
	s := editQueued(t)
	s.typeText(" and more words")
	s.journal.AddBy(tuitest.Bob, protocol.QueueRemoved, protocol.QueueRemovedData{
		MessageID: "m3", Reason: protocol.RemovedCleared,
	})
	s.applyJournal()
	got := s.m.composer.Text()
	if !strings.HasPrefix(got, "a draft\n\n") || !strings.HasSuffix(got, " and more words") {
		t.Errorf("got the message box %q, want the edited text after the draft", got)
	}
	s.mustShow("your text is in the message box")
}

func TestQueueRemovalStatus(t *testing.T) {
	for name, take := range map[string]func(j *tuitest.Journal){
		"another message": func(j *tuitest.Journal) {
			j.AddBy(tuitest.Bob, protocol.QueueRemoved, protocol.QueueRemovedData{
				MessageID: "m9", Reason: protocol.RemovedUser,
			})
		},
		"one whose turn starts": func(j *tuitest.Journal) {
			j.AddBy(tuitest.Bob, protocol.QueueRemoved, protocol.QueueRemovedData{
				MessageID: "m3", Reason: protocol.RemovedStarted,
			})
		},
		"without an actor": func(j *tuitest.Journal) {
			j.Add(protocol.QueueRemoved, protocol.QueueRemovedData{MessageID: "m3", Reason: protocol.RemovedUser})
		},
	} {
		s := open(t, tuitest.Scenes["long queue"](), 100, 24)
		s.press("tab")
		take(s.journal)
		s.applyJournal()
		if strings.Contains(s.m.status.Text, "removed the selected message") {
			t.Errorf("%s: got status %q", name, s.m.status.Text)
		}
	}
}

func TestQueueMessageParts(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.journal.AddBy(tuitest.Bob, protocol.QueueAdded, protocol.QueueAddedData{
		Message: protocol.Message{
			MessageID: "m3",
			Text:      "look",
			By:        &tuitest.Bob,
			Parts:     []protocol.Part{{Type: "image"}, {Type: "image"}},
		},
	})
	s.applyJournal()
	s.mustShow("1 look +2 parts")
}

func TestScheduledMessagesAreShownWithTheirTimes(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.mustHide("queue")
	by, at := protocol.Actor{Name: "bob"}, time.Date(2026, 3, 2, 7, 30, 0, 0, time.UTC)
	m := protocol.Message{MessageID: "later", Text: "update the dependencies", NotBefore: &at, By: &by}
	s.journal.AddBy(by, protocol.QueueScheduled, protocol.QueueScheduledData{Message: m})
	s.applyJournal()
	s.mustShow("◷ update the dependencies", "bob · 2026-03-02 ")
	s.journal.AddBy(by, protocol.QueueRemoved, protocol.QueueRemovedData{MessageID: "later"})
	s.applyJournal()
	s.mustHide("◷")
	s.mustHide("queue")
}

package sessionview

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"agentctl/internal/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/ui"
)

// verbs are the commands asked since the last call.
func (s *screen) verbs() []tuitest.Command {
	s.t.Helper()
	got := s.session.Commands()
	s.session.Mu.Lock()
	s.session.Sent = nil
	s.session.Mu.Unlock()
	return got
}

func TestAQueuedMessageIsSentNow(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 80, 24) // held by bob, while a turn runs
	s.press("tab", "down", "s")
	want := []tuitest.Command{
		{Verb: protocol.DoQueueMove, Data: protocol.QueueMoveData{MessageID: "m4", Index: 0}},
		{Verb: protocol.DoQueueRelease, Data: protocol.QueueReleaseData{Hold: "h1"}},
		{Verb: protocol.DoInterrupt, Data: protocol.InterruptData{Turn: "turn-m2", Queue: protocol.QueueKeep}},
	}
	if got := s.verbs(); !reflect.DeepEqual(got, want) {
		t.Errorf("asked %+v, want %+v", got, want)
	}

	s = open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.journal.QueueMessage(tuitest.Ada, "m3", "alone")
	s.tell()
	s.press("tab")
	cmd := s.m.Update(tuitest.KeyPress("s"))
	s.shows("sending now …")
	s.press("s", "s")
	s.run(cmd)
	if got := s.verbs(); len(got) != 1 || got[0].Verb != protocol.DoInterrupt {
		t.Errorf("asked %+v, want one interrupt", got)
	}
	s.hides("sending now …")
}

func TestSendingNowGoesNoFurtherThanWhatIsRefused(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 80, 24)
	s.refuse(tuitest.ErrRefused)
	s.press("tab", "down", "s")
	s.asked(protocol.DoQueueMove)
	s.shows("observers may not do that")
	s.hides("sending now …")
}

func TestALongQueueIsPaged(t *testing.T) {
	s := open(t, tuitest.Scenes["long queue"](), 80, 24)
	s.press("tab")
	s.shows("queue · 20 messages", "▸ 1 Message 1 of many", "↓ 14 more")
	s.press("pgdown")
	s.shows("▸ 7 Message 7 of many", "↑ 3 more · ↓ 11 more")
	s.press("G")
	s.shows("▸ 20 Message 20 of many", "↑ 14 more")
	s.press("pgup", "up")
	s.shows("▸ 13 Message 13 of many")
	s.press("g")
	s.shows("▸ 1 Message 1 of many")
}

func TestWhoRemovesTheChosenMessageIsTold(t *testing.T) {
	s := open(t, tuitest.Scenes["long queue"](), 100, 24)
	s.press("tab", "down", "down")
	s.shows("▸ 3 Message 3 of many")
	s.journal.AddBy(tuitest.Bob, protocol.QueueRemoved, protocol.QueueRemovedData{MessageID: "m5", Reason: protocol.RemovedUser})
	s.tell()
	s.shows("▸ 3 Message 4 of many", "bob removed the selected message")
	s.press("x")
	if data := s.asked(protocol.DoQueueRemove).(protocol.QueueRemoveData); data.MessageID != "m6" {
		t.Errorf("removed %+v", data)
	}
	s.journal.AddBy(tuitest.Ada, protocol.QueueRemoved, protocol.QueueRemovedData{MessageID: "m6", Reason: protocol.RemovedUser})
	s.tell()
	s.shows("▸ 3 Message 5 of many")
	s.hides("was chosen")
}

func TestTheHoldOfAnEditorWhoLeftCountsDown(t *testing.T) {
	s := open(t, tuitest.Scenes["long queue"](), 80, 30)
	s.press("tab", "pgdown", "down")
	s.shows("edited by bob")
	s.hides("who left")
	s.journal.Ephemeral(protocol.ClientDetached, protocol.Client{Client: "c2", By: tuitest.Bob})
	s.tell()
	s.shows("edited by bob, who left: 30s")
	s.now = s.now.Add(12 * time.Second)
	s.give(tickMsg{})
	s.shows("edited by bob, who left: 18s")
	s.journal.Ephemeral(protocol.ClientAttached, protocol.Client{Client: "c3", By: tuitest.Bob})
	s.tell()
	s.shows("edited by bob")
	s.hides("who left")
}

func TestAnEditIsHeldOverAReconnect(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 100, 24)
	s.press("tab", "e")
	s.asked(protocol.DoQueueHold)
	s.journal.AddBy(tuitest.Ada, protocol.QueueHeld, protocol.Hold{ID: "h9", Reason: protocol.HoldEdit, MessageID: "m3", By: &tuitest.Ada})
	s.tell()
	s.journal.Conn(remote.Conn{State: remote.Reconnecting, Attempt: 1})
	s.tell()
	s.now = s.now.Add(6 * time.Second)
	s.give(tickMsg{})
	s.shows("editing · held for 24s more")
	s.write(" More.")
	s.askedNothing()
	s.journal.Reconnect(protocol.ModeResume, 0)
	s.journal.CaughtUp()
	s.tell()
	if data := s.asked(protocol.DoQueueHold).(protocol.QueueHoldData); data.MessageID != "m3" {
		t.Errorf("held %+v", data)
	}
	s.hides("held for 24s")
	s.shows("editing a queued message")
	s.tell()
	s.askedNothing()
	s.press("enter")
	s.asked(protocol.DoQueueEdit)
}

func TestAnEditWhoseHoldRanOutSaysSo(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 100, 24)
	s.press("tab", "e")
	s.journal.AddBy(tuitest.Ada, protocol.QueueHeld, protocol.Hold{ID: "h9", Reason: protocol.HoldEdit, MessageID: "m3", By: &tuitest.Ada})
	s.journal.Conn(remote.Conn{State: remote.Reconnecting, Attempt: 1})
	s.tell()
	s.now = s.now.Add(time.Minute)
	s.give(tickMsg{})
	s.shows("editing · no longer held")
}

func TestAVeryLongMessageCostsNoMoreThanItsRow(t *testing.T) {
	j := tuitest.Conversation()
	j.QueueMessage(tuitest.Ada, "m3", strings.Repeat("漢", 80_000))
	j.CaughtUp()
	s := open(t, j, 80, 24)
	s.shows("1 漢漢")
	if n := len(ui.Excerpt(s.m.replica.state.Queue[0].Text)); n > 2*2<<10 {
		t.Errorf("%d bytes are drawn for one row", n)
	}
}

func TestAnEditOfWhatIsNotQueuedAnyMoreEnds(t *testing.T) {
	for _, reason := range []string{protocol.RemovedUser, protocol.RemovedStarted, protocol.RemovedCleared} {
		s := open(t, tuitest.Scenes["queue"](), 100, 24)
		s.write("a draft")
		s.press("tab", "e")
		s.journal.AddBy(tuitest.Ada, protocol.QueueHeld, protocol.Hold{ID: "h9", Reason: protocol.HoldEdit, MessageID: "m3", By: &tuitest.Ada})
		s.tell()
		s.shows("editing a queued message")
		s.journal.AddBy(tuitest.Bob, protocol.QueueRemoved, protocol.QueueRemovedData{MessageID: "m3", Reason: reason})
		s.tell()
		s.shows("the edited message is no longer queued", "> a draft")
		if s.m.composer.Editing != "" {
			t.Errorf("%s: it still edits %s", reason, s.m.composer.Editing)
		}
	}
}

func TestOnlyWhatSomebodyElseTookAwayIsToldOf(t *testing.T) {
	for name, take := range map[string]func(j *tuitest.Journal){
		"another message": func(j *tuitest.Journal) {
			j.AddBy(tuitest.Bob, protocol.QueueRemoved, protocol.QueueRemovedData{MessageID: "m9", Reason: protocol.RemovedUser})
		},
		"one whose turn starts": func(j *tuitest.Journal) {
			j.AddBy(tuitest.Bob, protocol.QueueRemoved, protocol.QueueRemovedData{MessageID: "m3", Reason: protocol.RemovedStarted})
		},
		"by nobody": func(j *tuitest.Journal) {
			j.Add(protocol.QueueRemoved, protocol.QueueRemovedData{MessageID: "m3", Reason: protocol.RemovedUser})
		},
	} {
		s := open(t, tuitest.Scenes["long queue"](), 100, 24)
		s.press("tab")
		take(s.journal)
		s.tell()
		if strings.Contains(s.m.status.Text, "was chosen") {
			t.Errorf("%s: %s", name, s.m.status.Text)
		}
	}
}

func TestAQueuedMessageTellsHowManyPartsItHas(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.journal.AddBy(tuitest.Bob, protocol.QueueAdded, protocol.QueueAddedData{Message: protocol.Message{MessageID: "m3", Text: "look", By: &tuitest.Bob, Parts: []protocol.Part{{Type: "image"}, {Type: "image"}}}})
	s.tell()
	s.shows("1 look +2 parts")
}

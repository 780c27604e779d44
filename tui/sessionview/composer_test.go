package sessionview

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/tuitest"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
)

func TestASentMessageShowsAtOnceAndBecomesReal(t *testing.T) {
	j := tuitest.NewJournal()
	j.CaughtUp()
	s := open(t, j, 80, 24)
	s.write("fix it")
	s.press("alt+enter")
	s.write("now")
	s.shows("> fix it\n  now")
	s.press("enter")
	s.shows("sending: fix it now")
	data := s.asked(protocol.DoSend).(protocol.SendData)
	if data.Text != "fix it\nnow" || data.ClientMessageID != "client-m101" {
		t.Fatalf("sent %+v", data)
	}
	j.UserMessage(tuitest.Ada, "m101", "fix it\nnow")
	s.tell()
	s.shows("ada · 09:41", "▎ fix it", "▎ now")
	s.hides("sending")
}

func TestOnlyItsOwnMessageIsNotPendingAnyMore(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 30)
	for _, text := range []string{"first", "second", "third"} {
		s.write(text)
		s.press("enter")
	}
	s.journal.QueueMessage(tuitest.Bob, "m50", "somebody else's")
	s.journal.AddBy(tuitest.Bob, protocol.QueueAdded, protocol.QueueAddedData{Message: protocol.Message{MessageID: "m51", Text: "of a client that names none", By: &tuitest.Bob}})
	s.tell()
	s.shows("sending: first", "sending: second", "sending: third")
	s.journal.QueueMessage(tuitest.Ada, "m102", "second")
	s.tell()
	s.shows("sending: first", "sending: third")
	s.hides("sending: second")
}

func TestSendingGoesToTheEndAndNothingIsNoMessage(t *testing.T) {
	s := open(t, tuitest.LongSession(40), 60, 20)
	s.press("enter")
	s.askedNothing()
	s.press("pgup", "pgup")
	if s.m.transcript.view.List.Following() {
		t.Fatal("it still follows")
	}
	s.session.Reply = func(tuitest.Command) (any, error) {
		return protocol.SendResult{Status: protocol.SendStarted, MessageID: "m101", Seq: 900}, nil
	}
	s.write("on")
	s.press("enter")
	if !s.m.transcript.view.List.Following() {
		t.Error("what was sent is below the screen")
	}
	s.hides("queued")
}

func TestAMovedMessageStaysChosen(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 80, 24)
	s.press("tab")
	s.run(s.m.panels.queue.move(s.m.replica.state.Queue[0], 1))
	s.journal.AddBy(tuitest.Ada, protocol.QueueMoved, protocol.QueueMovedData{MessageID: "m3", Index: 1})
	s.tell()
	if at := s.m.panels.queue.at(); at != 1 || s.m.panels.queue.selected != "m3" {
		t.Errorf("chosen is %s, %d", s.m.panels.queue.selected, at)
	}
	for _, to := range []int{-1, 2} {
		if s.m.panels.queue.move(s.m.replica.state.Queue[0], to) != nil {
			t.Errorf("moved to %d", to)
		}
	}
}

func TestOnlyWhatWasRefusedIsTakenBack(t *testing.T) {
	o := &outbox{}
	for _, id := range []string{"a", "b", "c", "d"} {
		o.add(id, "text "+id)
	}
	o.fail("b", "no")
	o.fail("c", "no")
	o.accept("d", 7)
	if got := o.texts(); !slices.Equal(got, []string{"text a", "text b", "text c"}) {
		t.Errorf("not taken: %q", got)
	}
	o.settle(6)
	for _, want := range []string{"text c", "text b", ""} {
		if got, ok := o.takeRefused(); got != want || ok != (want != "") {
			t.Errorf("took %q back, want %q", got, want)
		}
	}
	o.settle(7)
	if len(o.messages) != 1 || o.messages[0].id != "a" {
		t.Errorf("left %+v", o.messages)
	}
}

func TestASentMessageThatIsQueuedSaysWhere(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.session.Reply = func(tuitest.Command) (any, error) {
		index := 2
		return protocol.SendResult{Status: protocol.SendQueued, MessageID: "m101", Index: &index}, nil
	}
	s.write("then this")
	s.press("enter")
	s.shows("queued, 3rd")
	s.journal.QueueMessage(tuitest.Ada, "m101", "then this")
	s.tell()
	s.shows("queue · 1 message", "1 then this")
	s.hides("sending")
}

func TestOrdinals(t *testing.T) {
	for n, want := range map[int]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 112: "112th"} {
		if got := describe.Ordinal(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestAMessageSentIntoAnOutageWaitsAndBecomesRealOnce(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 30)
	s.journal.Conn(remote.Conn{State: remote.Reconnecting, Attempt: 1})
	s.tell()
	s.write("a draft is kept")
	cmd := s.m.Update(tuitest.KeyPress("enter"))
	s.write("this one")
	s.shows("waits for the connection · ctrl+r takes it back: a draft is kept", "> this one")
	s.journal.Reconnect(protocol.ModeResume, 1)
	s.tell()
	s.shows("sending: a draft is kept")
	s.journal.EndTurn(protocol.ReasonCompleted)
	s.journal.UserMessage(tuitest.Ada, "m101", "a draft is kept")
	seq := s.journal.Seq - 1
	s.journal.CaughtUp()
	s.tell()
	s.hides("sending")
	s.session.Reply = func(tuitest.Command) (any, error) {
		return protocol.SendResult{Status: protocol.SendStarted, MessageID: "m101", Seq: seq}, nil
	}
	s.run(cmd) // the answer comes last
	s.hides("sending")
	if n := strings.Count(s.text(), "a draft is kept"); n != 1 {
		t.Errorf("the message shows %d times:\n%s", n, s.text())
	}
	s.shows("> this one")
}

func TestAMessageWhoseTurnIsOverBeforeItIsSeenIsNotPending(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 30)
	s.journal.Conn(remote.Conn{State: remote.Reconnecting, Attempt: 1})
	s.tell()
	s.write("quick")
	cmd := s.m.Update(tuitest.KeyPress("enter"))
	s.session.Reply = func(tuitest.Command) (any, error) {
		return protocol.SendResult{Status: protocol.SendStarted, MessageID: "m101", Seq: 90}, nil
	}
	s.run(cmd)
	s.journal.Pending = append(s.journal.Pending, remote.Update{Attached: &protocol.SubscribeResult{
		Session: "s1", Mode: protocol.ModeSnapshot, After: protocol.Position{Epoch: "k3f9ab", Seq: 95},
		Snapshot: &protocol.Snapshot{Epoch: "k3f9ab", State: &protocol.State{Session: "s1", Seq: 95}},
	}})
	s.journal.CaughtUp()
	s.tell()
	s.hides("quick")
}

func TestAMuchTooLargePasteIsBoundedInRows(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.give(tea.PasteMsg{Content: strings.Repeat("a line of many\n", 3000) + "the end"})
	s.shows("the end", "I look at the imports")
	if rows := strings.Count(s.text(), "a line of many"); rows < 3 || rows > 8 {
		t.Errorf("the paste takes %d rows", rows)
	}
	s.press("enter")
	if data := s.asked(protocol.DoSend).(protocol.SendData); strings.Count(data.Text, "\n") != 3000 {
		t.Errorf("%d lines were sent", strings.Count(data.Text, "\n"))
	}
	s.press("up")
	s.shows("the end")
}

func TestARefusedMessageIsNotLost(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 100, 24)
	s.refuse(tuitest.ErrRefused)
	s.write("please")
	s.press("enter")
	s.shows("not sent: observers may not do that")
	s.press("ctrl+r")
	s.shows("> please")
	s.hides("not sent")
}

func TestAMessageThatWaitsForTheConnectionIsTakenBack(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 100, 24)
	s.journal.Conn(remote.Conn{State: remote.Reconnecting, Attempt: 1})
	s.tell()
	sends := map[string]tea.Cmd{}
	for i, text := range []string{"one", "two"} {
		s.write(text)
		sends[fmt.Sprint("client-m", 101+i)] = s.m.Update(tuitest.KeyPress("enter"))
	}
	s.shows("⇡ waits for the connection: one", "⇡ waits for the connection · ctrl+r takes it back: two")
	s.write("half a thought")
	s.session.OnWithdraw = func(id string) bool { return id == "client-m102" }
	s.press("ctrl+r")
	s.shows("⇠ being taken back: two")
	s.refuse(remote.ErrWithdrawn)
	s.run(sends["client-m102"])
	s.hides("taken back")
	if got := s.m.composer.Value(); got != "two\n\nhalf a thought" {
		t.Errorf("the composer has %q", got)
	}
	s.press("ctrl+r") // that one may have been on the wire when the connection was lost
	s.shows("the server may have it already", "⇡ waits for the connection · ctrl+r takes it back: one")
	s.refuse(nil)
	s.run(sends["client-m101"])
	s.press("ctrl+r")
	s.shows("no message to take back")
}

func TestWhatIsTakenBackDoesNotMixWithAnEdit(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 100, 30)
	s.refuse(tuitest.ErrRefused)
	s.write("please")
	s.press("enter", "tab", "e")
	edited := s.m.composer.Value()
	s.press("ctrl+r")
	if got := s.m.composer.Value(); got != edited {
		t.Errorf("the edit is %q, was %q", got, edited)
	}
	s.shows("restored after this edit")
	s.press("esc")
	s.shows("> please")
}

func TestPastedTextIsCleaned(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.give(tea.PasteMsg{Content: "a\x1b[31mb\r\nc"})
	if got := s.m.composer.Value(); got != "ab\nc" {
		t.Errorf("pasted %q", got)
	}
}

func TestLeavingTakesTwoPresses(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.press("ctrl+c")
	s.shows("press ctrl+c again to leave")
	s.press("x")
	s.hides("press ctrl+c again")
	s.press("ctrl+c")
	cmd := s.m.Update(tuitest.KeyPress("ctrl+c"))
	if !quits(cmd) {
		t.Error("the second ctrl+c does not leave")
	}
}

func quits(cmd tea.Cmd) bool {
	if cmd == nil {
		return false
	}
	switch msg := cmd().(type) {
	case tea.QuitMsg:
		return true
	case tea.BatchMsg:
		for _, c := range msg {
			if quits(c) {
				return true
			}
		}
	}
	return false
}

func TestAQueuedMessageIsEditedWithAHold(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 80, 24)
	s.write("my draft")
	s.press("tab", "e")
	if data := s.asked(protocol.DoQueueHold).(protocol.QueueHoldData); data.MessageID != "m3" {
		t.Fatalf("held %+v", data)
	}
	s.shows("editing a queued message", "> Then write the release notes")
	s.write(" Soon.")
	s.press("enter")
	data := s.asked(protocol.DoQueueEdit).(protocol.QueueEditData)
	if data.MessageID != "m3" || !strings.HasSuffix(data.Text, "tag. Soon.") {
		t.Fatalf("edited %+v", data)
	}
	s.shows("> my draft")
}

func TestGivingUpAnEditReleasesItsHold(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 80, 24)
	s.press("tab", "e")
	s.asked(protocol.DoQueueHold)
	s.journal.AddBy(tuitest.Ada, protocol.QueueHeld, protocol.Hold{ID: "h9", Reason: protocol.HoldEdit, MessageID: "m3", By: &tuitest.Ada})
	s.tell()
	s.press("esc")
	if data := s.asked(protocol.DoQueueRelease).(protocol.QueueReleaseData); data.Hold != "h9" {
		t.Errorf("released %+v", data)
	}
	s.hides("editing")
}

func TestTheQueueIsMovedRemovedHeldAndReleased(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 80, 24)
	s.press("tab", "down", "K")
	if data := s.asked(protocol.DoQueueMove).(protocol.QueueMoveData); data != (protocol.QueueMoveData{MessageID: "m4", Index: 0}) {
		t.Errorf("moved %+v", data)
	}
	s.press("K")
	s.asked(protocol.DoQueueMove)
	s.journal.Add(protocol.QueueMoved, protocol.QueueMovedData{MessageID: "m4", Index: 0})
	s.tell()
	s.shows("▸ 1 Push it and tell me.")
	s.press("K")
	s.askedNothing()
	s.press("x")
	if data := s.asked(protocol.DoQueueRemove).(protocol.QueueRemoveData); data.MessageID != "m4" {
		t.Errorf("removed %+v", data)
	}
	s.press("r")
	s.asked(protocol.DoQueueRelease)
	s.journal.Add(protocol.QueueReleased, protocol.QueueReleasedData{Holds: []string{"h1"}})
	s.tell()
	s.hides("held by bob")
	s.press("h")
	s.asked(protocol.DoQueueHold)
}

func TestAnEmptyQueueGivesTheFocusBack(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 80, 24)
	s.press("tab")
	s.journal.Add(protocol.QueueReleased, protocol.QueueReleasedData{Holds: []string{"h1"}})
	for _, id := range []string{"m3", "m4"} {
		s.journal.Add(protocol.QueueRemoved, protocol.QueueRemovedData{MessageID: id, Reason: protocol.RemovedCleared})
	}
	s.tell()
	s.hides("queue")
	s.write("x")
	s.shows("> x")
}

func TestInterruptShowsAtOnceUntilTheTurnEnds(t *testing.T) {
	for _, key := range []string{"esc", "ctrl+x"} {
		s := open(t, tuitest.Scenes["transcript"](), 80, 24)
		cmd := s.m.Update(tuitest.KeyPress(key))
		s.shows("   ── interrupting …", "● interrupting …")
		s.session.Reply = func(tuitest.Command) (any, error) { return protocol.InterruptResult{Interrupted: true}, nil }
		s.run(cmd)
		if data := s.asked(protocol.DoInterrupt).(protocol.InterruptData); data != (protocol.InterruptData{Turn: "turn-m2", Queue: protocol.QueueKeep}) {
			t.Errorf("%s asked %+v", key, data)
		}
		s.journal.EndTurn(protocol.ReasonInterrupted)
		s.tell()
		s.shows("── interrupted", "● interrupted", "idle · last turn interrupted")
		s.hides("interrupting")
		s.press(key)
		s.askedNothing()
	}
}

func TestAnInterruptSaysWhatBecameOfTheQueue(t *testing.T) {
	for key, want := range map[string]string{"k": "interrupted, the next message starts", "h": "interrupted, queue held", "C": "interrupted, queue cleared"} {
		s := open(t, tuitest.Scenes["transcript"](), 100, 24)
		s.journal.QueueMessage(tuitest.Bob, "m3", "next")
		s.tell()
		s.session.Reply = func(tuitest.Command) (any, error) { return protocol.InterruptResult{Interrupted: true}, nil }
		s.press("ctrl+x", key)
		s.shows(want)
	}
	s := open(t, tuitest.Scenes["queue"](), 100, 24)
	s.session.Reply = func(tuitest.Command) (any, error) { return protocol.InterruptResult{}, nil }
	s.press("ctrl+x")
	s.shows("k keep: held as it is")
	s.press("k")
	s.shows("the turn was over already")
}

func TestWhoInterruptedIsTold(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.journal.AddBy(tuitest.Bob, protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonInterrupted, DurationMS: 2000})
	s.tell()
	s.shows("── interrupted by bob · 2s")
}

func TestAnInterruptWaitsForTheConnection(t *testing.T) {
	s := open(t, tuitest.Scenes["reconnecting"](), 80, 24)
	s.m.Update(tuitest.KeyPress("ctrl+x"))
	s.shows("interrupts the turn once connected")
	s.press("ctrl+x")
	s.askedNothing()
}

func TestInterruptAsksAboutAQueueThatIsNotEmpty(t *testing.T) {
	for key, want := range map[string]string{"k": protocol.QueueKeep, "h": protocol.QueueHold, "C": protocol.QueueClear} {
		s := open(t, tuitest.Scenes["queue"](), 80, 24)
		s.press("esc")
		s.shows("The queue has 2 messages")
		s.askedNothing()
		s.press("esc")
		s.hides("The queue has")
		s.press("ctrl+x", key)
		if data := s.asked(protocol.DoInterrupt).(protocol.InterruptData); data.Queue != want {
			t.Errorf("%s asked %+v", key, data)
		}
	}
}

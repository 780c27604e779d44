package sessionview

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
)

func TestSendShowsPendingMessage(t *testing.T) {
	j := tuitest.NewJournal()
	j.CaughtUp()
	s := open(t, j, 80, 24)
	s.typeText("fix it")
	s.press("alt+enter")
	s.typeText("now")
	s.mustShow(" > fix it\n   now")
	s.press("enter")
	s.mustShow("sending: fix it now")
	data := s.mustSend(protocol.DoSend).(protocol.SendData)
	if data.Text != "fix it\nnow" || data.ClientMessageID != "client-m101" {
		t.Fatalf("got send data %+v", data)
	}
	j.UserMessage(tuitest.Ada, "m101", "fix it\nnow")
	s.applyJournal()
	s.mustShow("ada 09:41", "fix it", "now")
	s.mustHide("sending")
}

func TestPendingMessagesConfirmedByID(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 30)
	for _, text := range []string{"first", "second", "third"} {
		s.typeText(text)
		s.press("enter")
	}
	s.journal.QueueMessage(tuitest.Bob, "m50", "of another user")
	s.journal.AddBy(tuitest.Bob, protocol.QueueAdded, protocol.QueueAddedData{
		Message: protocol.Message{MessageID: "m51", Text: "of a client that names none", By: &tuitest.Bob},
	})
	s.applyJournal()
	s.mustShow("sending: first", "sending: second", "sending: third")
	s.journal.QueueMessage(tuitest.Ada, "m102", "second")
	s.applyJournal()
	s.mustShow("sending: first", "sending: third")
	s.mustHide("sending: second")
}

func TestSendScrollsToEnd(t *testing.T) {
	s := open(t, tuitest.LongSession(40), 60, 20)
	s.press("enter")
	s.mustSendNothing()
	s.press("pgup", "pgup")
	if s.m.transcript.View.List.Following() {
		t.Fatal("the list still follows its end")
	}
	s.session.Reply = func(tuitest.Command) (any, error) {
		return protocol.SendResult{Status: protocol.SendStarted, MessageID: "m101", Seq: 900}, nil
	}
	s.typeText("on")
	s.press("enter")
	if !s.m.transcript.View.List.Following() {
		t.Error("the sent message is below the screen")
	}
	s.mustHide("queued")
}

func TestSendQueuedPosition(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.session.Reply = func(tuitest.Command) (any, error) {
		index := 2
		return protocol.SendResult{Status: protocol.SendQueued, MessageID: "m101", Index: &index}, nil
	}
	s.typeText("then this")
	s.press("enter")
	s.mustShow("queued, 3rd")
	s.journal.QueueMessage(tuitest.Ada, "m101", "then this")
	s.applyJournal()
	s.mustShow("queue · 1 message", "1 then this")
	s.mustHide("sending")
}

func TestSendWhileDisconnected(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 30)
	s.journal.Conn(remote.Conn{State: remote.Reconnecting, Attempt: 1})
	s.applyJournal()
	s.typeText("a draft is kept")
	cmd := s.m.Update(tuitest.KeyPress("enter"))
	s.typeText("this one")
	s.mustShow("waits for the connection · alt+t takes it back: a draft is kept", "> this one")
	s.journal.Reconnect(protocol.ModeResume, 1)
	s.applyJournal()
	s.mustShow("sending: a draft is kept")
	s.journal.EndTurn(protocol.ReasonCompleted)
	s.journal.UserMessage(tuitest.Ada, "m101", "a draft is kept")
	seq := s.journal.Seq - 1
	s.journal.CaughtUp()
	s.applyJournal()
	s.mustHide("sending")
	s.session.Reply = func(tuitest.Command) (any, error) {
		return protocol.SendResult{Status: protocol.SendStarted, MessageID: "m101", Seq: seq}, nil
	}
	s.run(cmd) // the reply arrives last
	s.mustHide("sending")
	if n := strings.Count(s.text(), "a draft is kept"); n != 1 {
		t.Errorf("got the message %d times:\n%s", n, s.text())
	}
	s.mustShow("> this one")
}

func TestSendOfFinishedTurn(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 30)
	s.journal.Conn(remote.Conn{State: remote.Reconnecting, Attempt: 1})
	s.applyJournal()
	s.typeText("quick")
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
	s.applyJournal()
	s.mustHide("quick")
}

func TestLargePasteRows(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.update(tea.PasteMsg{Content: strings.Repeat("a line of many\n", 3000) + "the end"})
	s.mustShow("> [3,001 lines]", "I look at the imports")
	s.mustHide("a line of many")
	s.press("enter")
	if data := s.mustSend(protocol.DoSend).(protocol.SendData); strings.Count(data.Text, "\n") != 3000 {
		t.Errorf("got %d lines sent", strings.Count(data.Text, "\n"))
	}
	s.press("up")
	s.mustShow("the end")
}

func TestTakeBackWaitingMessage(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 100, 24)
	s.journal.Conn(remote.Conn{State: remote.Reconnecting, Attempt: 1})
	s.applyJournal()
	sends := map[string]tea.Cmd{}
	for i, text := range []string{"one", "two"} {
		s.typeText(text)
		sends[fmt.Sprint("client-m", 101+i)] = s.m.Update(tuitest.KeyPress("enter"))
	}
	s.mustShow("⇡ waits for the connection: one", "⇡ waits for the connection · alt+t takes it back: two")
	s.typeText("half a thought")
	s.session.OnWithdraw = func(id string) bool { return id == "client-m102" }
	s.press("alt+t")
	s.mustShow("⇠ being taken back: two")
	s.refuse(remote.ErrWithdrawn)
	s.run(sends["client-m102"])
	s.mustHide("taken back")
	if got := s.m.input.Composer().Value(); got != "two\n\nhalf a thought" {
		t.Errorf("got composer text %q", got)
	}
	s.press("alt+t") // that message may have been sent before the connection was lost
	s.mustShow("the server may have it already", "⇡ waits for the connection · alt+t takes it back: one")
	s.refuse(nil)
	s.run(sends["client-m101"])
	s.press("alt+t")
	s.mustShow("no message to take back")
}

// isQuit reports whether a command sends tea.QuitMsg.
func isQuit(cmd tea.Cmd) bool {
	if cmd == nil {
		return false
	}
	switch msg := cmd().(type) {
	case tea.QuitMsg:
		return true
	case tea.BatchMsg:
		for _, c := range msg {
			if isQuit(c) {
				return true
			}
		}
	}
	return false
}

func TestQueueCommands(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 80, 24)
	s.press("tab", "down", "shift+up")
	want := protocol.QueueMoveData{MessageID: "m4", Index: 0}
	if data := s.mustSend(protocol.DoQueueMove).(protocol.QueueMoveData); data != want {
		t.Errorf("got move %+v, want %+v", data, want)
	}
	s.press("shift+up")
	s.mustSend(protocol.DoQueueMove)
	s.journal.Add(protocol.QueueMoved, protocol.QueueMovedData{MessageID: "m4", Index: 0})
	s.applyJournal()
	s.mustShow("▸ 1 Push it and tell me.")
	s.press("shift+up")
	s.mustSendNothing()
	s.press("delete", "right", "enter") // the message is bob's
	if data := s.mustSend(protocol.DoQueueRemove).(protocol.QueueRemoveData); data.MessageID != "m4" {
		t.Errorf("got removal of %+v, want m4", data)
	}
	s.press("h")
	s.mustSend(protocol.DoQueueRelease)
	s.journal.Add(protocol.QueueReleased, protocol.QueueReleasedData{Holds: []string{"h1"}})
	s.applyJournal()
	s.mustHide("held by bob")
	s.press("h")
	s.mustSend(protocol.DoQueueHold)
}

func TestEmptyQueueLosesFocus(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 80, 24)
	s.press("tab")
	s.journal.Add(protocol.QueueReleased, protocol.QueueReleasedData{Holds: []string{"h1"}})
	for _, id := range []string{"m3", "m4"} {
		s.journal.Add(protocol.QueueRemoved, protocol.QueueRemovedData{MessageID: id, Reason: protocol.RemovedCleared})
	}
	s.applyJournal()
	s.mustHide("queue")
	s.typeText("x")
	s.mustShow("> x")
}

func TestInterruptStatus(t *testing.T) {
	for _, key := range []string{"esc", "ctrl+x"} {
		s := open(t, tuitest.Scenes["transcript"](), 80, 24)
		cmd := s.m.Update(tuitest.KeyPress(key))
		s.mustShow("   ── interrupting …", "◌ interrupting …")
		s.session.Reply = func(tuitest.Command) (any, error) { return protocol.InterruptResult{Interrupted: true}, nil }
		s.run(cmd)
		want := protocol.InterruptData{Turn: "turn-m2", Queue: protocol.QueueKeep}
		if data := s.mustSend(protocol.DoInterrupt).(protocol.InterruptData); data != want {
			t.Errorf("%s: got %+v, want %+v", key, data, want)
		}
		s.journal.EndTurn(protocol.ReasonInterrupted)
		s.applyJournal()
		s.mustShow("── interrupted", "● interrupted", "idle · last turn interrupted")
		s.mustHide("interrupting")
		s.press(key)
		s.mustSendNothing()
	}
}

func TestInterruptHoldsQueuedMessages(t *testing.T) {
	for _, key := range []string{"esc", "ctrl+x"} {
		s := open(t, tuitest.Scenes["transcript"](), 80, 24)
		s.journal.QueueMessage(tuitest.Ada, "m3", "next")
		s.applyJournal()
		s.session.Reply = func(tuitest.Command) (any, error) { return protocol.InterruptResult{Interrupted: true}, nil }
		s.press(key)
		want := protocol.InterruptData{Turn: "turn-m2", Queue: protocol.QueueHold}
		if data := s.mustSend(protocol.DoInterrupt).(protocol.InterruptData); data != want {
			t.Errorf("%s: got %+v, want %+v", key, data, want)
		}
		s.mustShow("interrupted, queue held")
		s.journal.EndTurn(protocol.ReasonInterrupted)
		s.journal.AddBy(tuitest.Ada, protocol.QueueHeld, protocol.Hold{
			ID: "h1", Reason: protocol.HoldInterrupt, By: &tuitest.Ada,
		})
		s.applyJournal()
		s.mustShow("queue · 1 message · held after an interrupt · alt+r release")
		s.typeText("rc") // the panel takes no letter
		s.mustSendNothing()
		s.mustShow("> rc", "alt+r release")
		s.press("alt+r")
		s.mustSend(protocol.DoQueueRelease)
		s.mustShow("> rc")
	}
}

func TestInterruptOfAServerThatCannotHold(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.journal.QueueMessage(tuitest.Ada, "m3", "next")
	s.applyJournal()
	s.session.Reply = func(c tuitest.Command) (any, error) {
		if data, ok := c.Data.(protocol.InterruptData); ok && data.Queue == protocol.QueueHold {
			return nil, protocol.Errorf(protocol.CodeUnsupported, "holding the queue")
		}
		return protocol.InterruptResult{Interrupted: true}, nil
	}
	s.press("esc")
	got := s.takeCommands()
	if len(got) != 2 || got[1].Data.(protocol.InterruptData).Queue != protocol.QueueKeep {
		t.Errorf("got commands %+v, want a second interrupt that keeps the queue", got)
	}
	s.mustShow("interrupted, the next message starts")
}

func TestInterruptKeepsHolds(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 100, 24) // held by bob
	s.session.Reply = func(tuitest.Command) (any, error) { return protocol.InterruptResult{}, nil }
	s.press("ctrl+x")
	if data := s.mustSend(protocol.DoInterrupt).(protocol.InterruptData); data.Queue != protocol.QueueKeep {
		t.Errorf("got %+v, want the queue kept", data)
	}
	s.mustShow("the turn was over already")
}

func TestInterruptedByName(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.journal.AddBy(tuitest.Bob, protocol.TurnEnded, protocol.TurnEndedData{
		Reason: protocol.ReasonInterrupted, DurationMS: 2000,
	})
	s.applyJournal()
	s.mustShow("── interrupted by bob · 2s")
}

func TestInterruptWhileDisconnected(t *testing.T) {
	s := open(t, tuitest.Scenes["reconnecting"](), 80, 24)
	s.m.Update(tuitest.KeyPress("ctrl+x"))
	s.mustShow("interrupts the turn once connected")
	s.press("ctrl+x")
	s.mustSendNothing()
}

func TestCompletionFirstWordOnly(t *testing.T) {
	s := open(t, tuitest.Scenes["settings"](), 80, 24)
	s.typeText("see /pl")
	s.mustHide("commands ·")
	s.press("tab")
	if s.m.focus == onComposer {
		t.Error("tab does not move the focus")
	}
}

package queue

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/paneltest"
	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/ui"
)

// testPanel is a panel with the events of a journal. restored holds the texts for the composer.
type testPanel struct {
	*paneltest.Rig
	t        *testing.T
	panel    *Panel
	restored []string
}

func open(t *testing.T, j *tuitest.Journal, width int) *testPanel {
	t.Helper()
	s := &testPanel{Rig: paneltest.New(t, j), t: t}
	ids := 0
	s.panel = New(Config{
		Base: panel.Base{Styles: s.Styles, Replica: s.Replica, Commands: s.Commands, Now: s.Now},
		NewID: func() string {
			ids++
			return fmt.Sprintf("client-m%d", 100+ids)
		},
		Editing: func() string { return "" },
		Restore: func(text string) { s.restored = append(s.restored, text) },
	})
	s.Apply = s.panel.Apply
	s.Lines = func() []string { return s.panel.View(width, 24) }
	s.ApplyJournal()
	return s
}

// press gives the panel the focus and keys by name, and runs its commands. A key clears the status
// message, as on the screen.
func (s *testPanel) press(names ...string) {
	s.t.Helper()
	s.panel.SetFocus(true)
	for _, name := range names {
		s.Commands.Status.Clear()
		s.Run(s.key(name))
	}
}

// key gives the panel a key and returns its command.
func (s *testPanel) key(name string) tea.Cmd {
	return s.panel.Press(tuitest.KeyPress(name).String()).Cmd
}

func TestQueueSendNow(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 80) // held by bob; a turn is running
	s.press("down", "s")
	want := []tuitest.Command{
		{Verb: protocol.DoQueueMove, Data: protocol.QueueMoveData{MessageID: "m4", Index: 0}},
		{Verb: protocol.DoQueueRelease, Data: protocol.QueueReleaseData{Hold: "h1"}},
		{Verb: protocol.DoInterrupt, Data: protocol.InterruptData{Turn: "turn-m2", Queue: protocol.QueueKeep}},
	}
	if got := s.TakeCommands(); !reflect.DeepEqual(got, want) {
		t.Errorf("got commands %+v, want %+v", got, want)
	}

	s = open(t, tuitest.Scenes["transcript"](), 80)
	s.Journal.QueueMessage(tuitest.Ada, "m3", "alone")
	s.ApplyJournal()
	s.panel.SetFocus(true)
	cmd := s.key("s")
	s.MustShow("sending now …")
	s.press("s", "s")
	s.Run(cmd)
	if got := s.TakeCommands(); len(got) != 1 || got[0].Verb != protocol.DoInterrupt {
		t.Errorf("got commands %+v, want one interrupt", got)
	}
	s.MustHide("sending now …")
}

func TestQueueSendNowStopsOnError(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 80)
	s.Refuse(tuitest.ErrRefused)
	s.press("down", "s")
	s.MustSend(protocol.DoQueueMove)
	s.MustReport("observers may not do that")
	s.MustHide("sending now …")
}

func TestQueuePaging(t *testing.T) {
	s := open(t, tuitest.Scenes["long queue"](), 80)
	s.panel.SetFocus(true)
	s.MustShow("queue · 20 messages", "▸ 1 Message 1 of many", "↓ 14 more")
	s.press("pgdown")
	s.MustShow("▸ 7 Message 7 of many", "↑ 3 more · ↓ 11 more")
	s.press("G")
	s.MustShow("▸ 20 Message 20 of many", "↑ 14 more")
	s.press("pgup", "up")
	s.MustShow("▸ 13 Message 13 of many")
	s.press("g")
	s.MustShow("▸ 1 Message 1 of many")
}

func TestQueueSelectedMessageRemoved(t *testing.T) {
	s := open(t, tuitest.Scenes["long queue"](), 100)
	s.press("down", "down")
	s.MustShow("▸ 3 Message 3 of many")
	s.Journal.AddBy(tuitest.Bob, protocol.QueueRemoved, protocol.QueueRemovedData{
		MessageID: "m5", Reason: protocol.RemovedUser,
	})
	s.ApplyJournal()
	s.MustShow("▸ 3 Message 4 of many")
	s.MustReport("bob removed the selected message")
	s.press("delete")
	if data := s.MustSend(protocol.DoQueueRemove).(protocol.QueueRemoveData); data.MessageID != "m6" {
		t.Errorf("got removal of %+v, want m6", data)
	}
	s.Journal.AddBy(tuitest.Ada, protocol.QueueRemoved, protocol.QueueRemovedData{
		MessageID: "m6", Reason: protocol.RemovedUser,
	})
	s.ApplyJournal()
	s.MustShow("▸ 3 Message 5 of many")
	s.MustReport("")
}

func TestQueueHoldCountdown(t *testing.T) {
	s := open(t, tuitest.Scenes["long queue"](), 80)
	s.press("pgdown", "down")
	s.MustShow("edited by bob")
	s.MustHide("who left")
	s.Journal.Ephemeral(protocol.ClientDetached, protocol.Client{Client: "c2", By: tuitest.Bob})
	s.ApplyJournal()
	s.MustShow("edited by bob, who left: 30s")
	s.Time = s.Time.Add(12 * time.Second)
	s.MustShow("edited by bob, who left: 18s")
	s.Journal.Ephemeral(protocol.ClientAttached, protocol.Client{Client: "c3", By: tuitest.Bob})
	s.ApplyJournal()
	s.MustShow("edited by bob")
	s.MustHide("who left")
}

func TestEditTitleCountsDown(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 80)
	s.panel.Editing = func() string { return "m3" }
	s.Journal.AddBy(tuitest.Ada, protocol.QueueHeld, protocol.Hold{
		ID: "h9", Reason: protocol.HoldEdit, MessageID: "m3", By: &tuitest.Ada,
	})
	s.ApplyJournal()
	wantTitle := func(want string) {
		t.Helper()
		if got := s.panel.EditTitle(); got != want {
			t.Errorf("got title %q, want %q", got, want)
		}
	}
	wantTitle("editing a queued message")
	s.Journal.Conn(remote.Conn{State: remote.Reconnecting, Attempt: 1})
	s.ApplyJournal()
	s.panel.Disconnected()
	wantTitle("editing · held for 30s more")
	s.Time = s.Time.Add(29 * time.Second)
	wantTitle("editing · held for 1s more")
	s.Time = s.Time.Add(time.Second)
	wantTitle("editing · no longer held")
}

func TestQueueLongMessage(t *testing.T) {
	j := tuitest.Conversation()
	j.QueueMessage(tuitest.Ada, "m3", strings.Repeat("漢", 80_000))
	j.CaughtUp()
	s := open(t, j, 80)
	s.MustShow("1 漢漢")
	if n := len(ui.Excerpt(s.Replica.State.Queue[0].Text)); n > 2*2<<10 {
		t.Errorf("got an excerpt of %d bytes for one row", n)
	}
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
		s := open(t, tuitest.Scenes["long queue"](), 100)
		s.panel.SetFocus(true)
		take(s.Journal)
		s.ApplyJournal()
		if strings.Contains(s.Commands.Status.Text, "removed the selected message") {
			t.Errorf("%s: got status %q", name, s.Commands.Status.Text)
		}
	}
}

func TestQueueMessageParts(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80)
	s.Journal.AddBy(tuitest.Bob, protocol.QueueAdded, protocol.QueueAddedData{
		Message: protocol.Message{
			MessageID: "m3",
			Text:      "look",
			By:        &tuitest.Bob,
			Parts:     []protocol.Part{{Type: "image"}, {Type: "image"}},
		},
	})
	s.ApplyJournal()
	s.MustShow("1 look +2 parts")
}

func TestScheduledMessagesAreShownWithTheirTimes(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80)
	s.MustHide("queue")
	by, at := protocol.Actor{Name: "bob"}, time.Date(2026, 3, 2, 7, 30, 0, 0, time.UTC)
	m := protocol.Message{MessageID: "later", Text: "update the dependencies", NotBefore: &at, By: &by}
	s.Journal.AddBy(by, protocol.QueueScheduled, protocol.QueueScheduledData{Message: m})
	s.ApplyJournal()
	s.MustShow("◷ update the dependencies", "bob · 2026-03-02 ")
	s.Journal.AddBy(by, protocol.QueueRemoved, protocol.QueueRemovedData{MessageID: "later"})
	s.ApplyJournal()
	s.MustHide("◷")
	s.MustHide("queue")
}

func TestMovedMessageStaysSelected(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 80)
	s.panel.SetFocus(true)
	s.Run(s.panel.move(s.Replica.State.Queue[0].MessageID, 1))
	s.Journal.AddBy(tuitest.Ada, protocol.QueueMoved, protocol.QueueMovedData{MessageID: "m3", Index: 1})
	s.ApplyJournal()
	if at := s.panel.Selected(); at != 1 || s.panel.selected != "m3" {
		t.Errorf("got selected message %s at %d", s.panel.selected, at)
	}
	for _, by := range []int{-1, 2} {
		if s.panel.move(s.Replica.State.Queue[0].MessageID, by) != nil {
			t.Errorf("got move by %d", by)
		}
	}
}

func TestAScheduledMessageHasItsRow(t *testing.T) {
	j := tuitest.Conversation()
	j.QueueMessage(tuitest.Ada, "m3", "one")
	at := time.Date(2026, 3, 2, 7, 30, 0, 0, time.UTC)
	j.AddBy(tuitest.Bob, protocol.QueueScheduled, protocol.QueueScheduledData{Message: protocol.Message{
		MessageID: "later", Text: "update the dependencies", NotBefore: &at, By: &tuitest.Bob,
		Parts: []protocol.Part{{Type: "image"}},
	}})
	j.CaughtUp()
	s := open(t, j, 100)
	s.press("down")
	s.MustShow("queue · 1 message · 1 scheduled", "▸ ◷ update the dependencies", "+1 part",
		"bob · 2026-03-02 07:30", "e edit · X cancel · s send now")
	s.press("shift+up", "shift+down", "up", "down")
	for _, c := range s.TakeCommands() {
		if data, ok := c.Data.(protocol.QueueRemoveData); !ok || data.MessageID != "m3" {
			t.Errorf("a key that is not for scheduled messages sends %+v", c)
		}
	}
}

func TestAScheduledMessageThatCannotBeSentReturnsToTheComposer(t *testing.T) {
	j := tuitest.Conversation()
	at := time.Date(2026, 3, 2, 7, 30, 0, 0, time.UTC)
	j.AddBy(tuitest.Ada, protocol.QueueScheduled, protocol.QueueScheduledData{Message: protocol.Message{
		MessageID: "later", Text: "update the dependencies", NotBefore: &at, By: &tuitest.Ada,
	}})
	s := open(t, j, 100)
	s.Session.Reply = func(c tuitest.Command) (any, error) {
		if c.Verb == protocol.DoSend {
			return nil, tuitest.ErrRefused
		}
		return protocol.QueueRemoveResult{Removed: true}, nil
	}
	s.press("s")
	s.MustReport("observers may not do that")
	if want := []string{"update the dependencies"}; !reflect.DeepEqual(s.restored, want) {
		t.Errorf("restored %q, want %q", s.restored, want)
	}
}

func TestQueueSteer(t *testing.T) {
	s := open(t, tuitest.Scenes["steering"](), 80)
	s.MustShow("⇢ Log the slow queries.", "into the turn · ada 09:41", "2 And no migrations yet.")
	s.panel.SetFocus(true)
	s.MustShow("t into the turn")
	index := 0
	s.Session.Reply = func(tuitest.Command) (any, error) {
		return protocol.SendResult{Status: protocol.SendQueued, Index: &index, Reason: "the queue is\nheld"}, nil
	}
	s.press("down", "t")
	want := []tuitest.Command{{Verb: protocol.DoQueueSteer, Data: protocol.QueueSteerData{MessageID: "m3"}}}
	if got := s.TakeCommands(); !reflect.DeepEqual(got, want) {
		t.Errorf("got commands %+v, want %+v", got, want)
	}
	if got := s.Commands.Status.Text; got != "queued first: the queue is held" {
		t.Errorf("status %q", got)
	}
	s = open(t, tuitest.Scenes["queue"](), 80) // an agent that takes no messages during a turn
	s.panel.SetFocus(true)
	s.MustHide("into the turn")
}

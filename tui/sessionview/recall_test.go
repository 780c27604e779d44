package sessionview

import (
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
)

// sendMessage types a message and sends it.
func (s *testScreen) sendMessage(text string) {
	s.typeText(text)
	s.press("enter")
}

func (s *testScreen) mustCompose(want string) {
	s.t.Helper()
	if got := s.m.composer.Text(); got != want {
		s.t.Fatalf("got composer text %q, want %q", got, want)
	}
}

func TestRecallHistory(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24) // has a message of ada and one of bob
	s.sendMessage("first")
	s.sendMessage("second")
	s.typeText("draft")
	s.press("up") // at the first row of the draft
	s.mustCompose("draft")
	for _, want := range []string{
		"second", "first", "The test in pkg/store fails now and then. Find out why and fix it, please.",
	} {
		s.press("ctrl+p")
		s.mustCompose(want)
	}
	s.press("ctrl+p")
	s.mustShow("no earlier message")
	s.press("home", "down", "down") // to the last row, then to the next message
	s.mustCompose("second")
	s.press("down")
	s.mustCompose("draft")
	s.press("down", "ctrl+n")
	s.mustCompose("draft")
}

func TestRecallWithArrows(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.sendMessage("one")
	s.typeText("two")
	s.press("alt+enter")
	s.sendMessage("lines")
	s.press("up")
	s.mustCompose("two\nlines")
	s.press("up") // from the last row to the first
	s.mustCompose("two\nlines")
	s.press("up")
	s.mustCompose("one")
	s.typeText("!")
	s.press("down", "up", "up")
	s.mustCompose("one!") // the changed message is kept during the recall
	s.press("enter")
	data := s.session.Commands()
	if got := data[len(data)-1].Data.(protocol.SendData).Text; got != "one!" {
		t.Errorf("got sent text %q", got)
	}
	s.mustCompose("")
	s.press("up")
	s.mustCompose("one!")
	s.press("down")
	s.mustCompose("")
}

func TestWheelAsArrowsScrolls(t *testing.T) {
	s := open(t, tuitest.LongSession(40), 60, 20)
	s.sendMessage("sent before")
	s.press("ctrl+end")
	s.press("pgup")
	scroll := func(key string) {
		s.now = s.now.Add(time.Second)
		for range 3 {
			s.update(tuitest.KeyPress(key))
		}
	}
	rows := func() []string { return strings.Split(s.text(), "\n")[:10] }
	before := rows()
	scroll("up")
	if up := rows(); !slices.Equal(up[3:], before[:7]) {
		t.Errorf("three lines up: got\n%s\nfrom\n%s", strings.Join(up, "\n"), strings.Join(before, "\n"))
	}
	s.mustCompose("")
	scroll("down")
	s.mustCompose("")
	if got := rows(); !slices.Equal(got, before) {
		t.Errorf("up and down again: got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(before, "\n"))
	}
	s.press("up")
	s.mustCompose("sent before")
	scroll("up")
	s.mustCompose("sent before")
}

func TestRecallEscape(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.typeText("draft")
	s.press("ctrl+p", "esc")
	s.mustCompose("draft")
	s.mustSendNothing()
	s.press("esc")
	s.mustSend(protocol.DoInterrupt)
}

func TestRecallFromHistory(t *testing.T) {
	s := openAtEnd(t, 12)
	s.session.Reply = func(a tuitest.Command) (any, error) {
		if a.Verb == protocol.DoHistory {
			return tuitest.HistoryPage(1, 2, false), nil
		}
		return nil, nil
	}
	s.journal.Conn(remote.Conn{State: remote.Connected, Connection: "c1", By: tuitest.Bob})
	s.applyJournal() // requests the older page
	s.press("up")
	s.mustCompose("question 2")
	s.press("up")
	s.mustCompose("question 1")
}

func TestRecallSentMessageOnce(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.journal.EndTurn(protocol.ReasonCompleted)
	s.applyJournal()
	s.sendMessage("once")
	s.journal.UserMessage(tuitest.Ada, "m101", "once")
	s.applyJournal()
	s.sendMessage("twice")
	s.press("up")
	s.mustCompose("twice")
	s.press("up")
	s.mustCompose("once")
	s.press("up")
	s.mustCompose("The test in pkg/store fails now and then. Find out why and fix it, please.")
}

func TestRecallDraftKeptByQueueEdit(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 80, 24)
	s.sendMessage("sent before")
	s.typeText("my draft")
	s.press("ctrl+p")
	s.mustCompose("sent before")
	s.press("tab", "e", "ctrl+p")
	s.mustShow("a queued message is edited", "> Then write the release notes")
	s.press("esc")
	s.mustCompose("my draft")
}

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
	if got := s.m.input.Composer().Text(); got != want {
		s.t.Fatalf("got composer text %q, want %q", got, want)
	}
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

package sessionview

import (
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
)

func (s *testScreen) mustCompose(want string) {
	s.t.Helper()
	if got := s.m.input.Composer().Text(); got != want {
		s.t.Fatalf("got composer text %q, want %q", got, want)
	}
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

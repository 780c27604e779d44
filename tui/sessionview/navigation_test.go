package sessionview

import (
	"strings"
	"testing"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestNavigationWhileTyping(t *testing.T) {
	s := open(t, tuitest.LongSession(40), 60, 20)
	s.typeText("half a thought")
	for _, want := range []string{"question 3", "question 3", "question 3", "question 3"} {
		s.press("alt+up")
		if top := strings.Split(s.text(), "\n")[1]; !strings.Contains(s.text(), want) {
			t.Errorf("got top line %q, want %q on the screen", top, want)
		}
	}
	if top := strings.Split(s.text(), "\n")[2]; !strings.HasPrefix(top, " ▎ question 3") {
		t.Errorf("got %q at the top, want the start of a turn:\n%s", top, s.text())
	}
	for range 9 {
		s.press("alt+down")
	}
	s.mustShow("answer 39", "half a thought")
	if !s.m.transcript.View.List.Following() {
		t.Error("the list does not follow its end")
	}
}

func TestJumpCancelledByKey(t *testing.T) {
	s := openAtEnd(t, 1200)
	s.session.ReplyToSearch(func(d protocol.HistoryData) protocol.HistoryResult {
		n := int(d.Before-1) / 6
		return tuitest.FinishedTurns(max(0, n-d.Limit), n)
	})
	s.applyJournal()
	s.press("tab")
	cmd := s.m.Update(tuitest.KeyPress("K"))
	if !s.m.transcript.Jumping() {
		t.Fatal("no jump is running")
	}
	s.press("esc")
	if s.m.transcript.Jumping() {
		t.Error("the jump is still running")
	}
	s.run(cmd)
}

func TestJumpStatusKept(t *testing.T) {
	s := openAtEnd(t, 1200)
	s.session.ReplyToSearch(func(d protocol.HistoryData) protocol.HistoryResult {
		n := int(d.Before-1) / 6
		return tuitest.FinishedTurns(max(0, n-d.Limit), n)
	})
	s.applyJournal()
	s.press("tab")
	s.m.Update(tuitest.KeyPress("K"))
	s.mustShow("looking further back …")
	s.now = s.now.Add(time.Minute)
	s.tick()
	s.mustShow("looking further back …")
}

func TestTypedTextIsSearchedByATimer(t *testing.T) {
	s := open(t, tuitest.LongSession(30), 60, 20)
	s.press("ctrl+f")
	s.typeText("answer")
	s.mustHide("▌▏ answer 29")
	s.now = s.now.Add(time.Second)
	for _, msg := range s.timers {
		s.update(msg)
	}
	s.mustShow("▌▏ answer 29", "find: answer")
}

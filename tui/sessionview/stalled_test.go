package sessionview

import (
	"testing"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/tui/remote"
)

// A command without an answer stays visible while keys and status messages change the last line.
func TestAServerThatDoesNotAnswerIsShownInTheStatusLine(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 24)
	s.focusApproval()
	stalled := s.startKey("n")
	s.now = s.now.Add(2 * time.Second)
	s.tick()
	s.mustHide("no answer")
	if !s.m.showsClock() {
		t.Fatal("no timer redraws the time")
	}
	s.now = s.now.Add(2 * time.Second)
	s.tick()
	s.mustShow("○ no answer for 4s ◌ waiting for 2 approvals")
	s.press("down")
	s.m.ShowStatus("a status message")
	s.mustShow("○ no answer for 4s ◌ a status message")
	s.update(remote.Updates{{Conn: &remote.Conn{State: remote.Reconnecting}}})
	s.mustHide("no answer")
	s.update(remote.Updates{{Conn: &remote.Conn{State: remote.Connected}}})
	s.mustHide("no answer")
	s.now = s.now.Add(4 * time.Second)
	s.tick()
	s.mustShow("no answer for 4s")
	s.run(stalled)
	s.mustHide("no answer")
}

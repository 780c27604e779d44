package sessionview

import (
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/tui/ui"
)

const leaveHint = "ctrl+c again leaves · the session goes on"

// fireLeaveTimers fires the timers that end the confirmation of leaving.
func (s *testScreen) fireLeaveTimers() {
	timers := s.timers
	s.timers = nil
	for _, msg := range timers {
		if _, ok := msg.(ui.LeaveTimeoutMsg); ok {
			s.update(msg)
		}
	}
}

func TestCtrlCTwiceLeavesUnlessAKeyOrTheTimeoutComesBetween(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.press("ctrl+c")
	s.mustShow(leaveHint)
	s.press("x")
	s.mustHide(leaveHint)
	s.press("backspace", "ctrl+c")
	s.mustShow(leaveHint)
	s.fireLeaveTimers()
	s.mustHide(leaveHint)
	s.press("ctrl+c")
	if !isQuit(s.m.Update(tuitest.KeyPress("ctrl+c"))) {
		t.Error("the second ctrl+c does not quit")
	}
}

func TestATimerOfAnEarlierCtrlCDoesNotEndALaterOne(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.press("ctrl+c")
	first := s.timers[len(s.timers)-1]
	s.press("left", "ctrl+c")
	s.update(first)
	s.mustShow(leaveHint)
}

func TestCtrlCShowsTheQuestionOverAnOverlay(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.press("f1", "ctrl+c")
	s.mustShow(leaveHint)
	s.press("down")
	s.mustHide(leaveHint)
	s.mustShow("this help")
}

func TestCtrlDLeavesOnlyAnEmptyComposer(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.typeText("ab")
	s.press("home", "ctrl+d")
	s.mustCompose("b")
	s.press("ctrl+d")
	s.mustCompose("")
	if isQuit(s.m.Update(tuitest.KeyPress("ctrl+d"))) {
		t.Fatal("a repeated ctrl+d leaves")
	}
	s.press("x", "backspace")
	if !isQuit(s.m.Update(tuitest.KeyPress("ctrl+d"))) {
		t.Error("ctrl+d does not leave an empty composer")
	}
	s.press("tab") // the approval or the transcript
	if isQuit(s.m.Update(tuitest.KeyPress("ctrl+d"))) {
		t.Error("ctrl+d leaves without the focus on the composer")
	}
}

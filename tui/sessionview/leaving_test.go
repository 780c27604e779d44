package sessionview

import (
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/tui/ui"
)

const leaveHint = "ctrl+c again leaves · the session continues"

// endLeaveTimeout advances time to the end of the confirmation of leaving.
func (s *testScreen) endLeaveTimeout() {
	s.now = s.now.Add(ui.LeaveTimeout)
	s.update(ui.TimerMsg{At: s.now})
}

func TestCtrlCTwiceLeavesUnlessAKeyOrTheTimeoutComesBetween(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.press("ctrl+c")
	s.mustShow(leaveHint)
	s.press("x")
	s.mustHide(leaveHint)
	s.press("backspace", "ctrl+c")
	s.mustShow(leaveHint)
	s.endLeaveTimeout()
	s.mustHide(leaveHint)
	s.press("ctrl+c")
	if !isQuit(s.m.Update(tuitest.KeyPress("ctrl+c"))) {
		t.Error("the second ctrl+c does not quit")
	}
}

func TestATimerOfAnEarlierCtrlCDoesNotEndALaterOne(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.press("ctrl+c")
	s.now = s.now.Add(ui.LeaveTimeout / 2)
	s.press("left", "ctrl+c")
	s.now = s.now.Add(ui.LeaveTimeout / 2)
	s.update(ui.TimerMsg{At: s.now})
	s.mustShow(leaveHint)
}

func TestCtrlCShowsTheQuestionOverAnOverlay(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.press("f1", "ctrl+c")
	s.mustShow(leaveHint)
	s.press("down")
	s.mustHide(leaveHint)
	s.mustShow("F2, ctrl+s")
}

func TestCtrlDLeavesOnlyWithTheFocusOnTheComposer(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	if !isQuit(s.m.Update(tuitest.KeyPress("ctrl+d"))) {
		t.Error("ctrl+d does not leave an empty composer")
	}
	s.press("tab") // the approval or the transcript
	if isQuit(s.m.Update(tuitest.KeyPress("ctrl+d"))) {
		t.Error("ctrl+d leaves without the focus on the composer")
	}
}

package sessionview

import (
	"reflect"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestApprovalEditPatch(t *testing.T) {
	s := open(t, tuitest.Scenes["patch"](), 100, 40)
	s.focusApproval()
	dir := s.setEditor(`sed -i s/20/40/ "$1"`)
	s.mustShow("p edit", "+ const limit = 20")
	s.press("p")
	s.mustLeaveNoFile(dir)
	s.mustShow("▸ [x] with the patch as edited", "+ const limit = 40")
	s.mustHide("= 20")
	s.press("v")
	s.mustShow("+ const limit = 40")
	s.press("q")
	s.waitGrace()
	s.press("y")
	data := s.mustSend(protocol.DoApprove).(protocol.ApproveData)
	want := strings.Replace(s.m.replica.State.Approvals[0].Patch, "20", "40", 1)
	if data.Option != "once" || data.Input == nil || data.Input.Patch != want {
		t.Errorf("got decision %+v with input %+v, want option once with patch %q", data, data.Input, want)
	}
}

func TestApprovalEditPatchAgain(t *testing.T) {
	s := open(t, tuitest.Scenes["patch"](), 100, 40)
	s.focusApproval()
	s.setEditor(`sed -i s/20/40/ "$1"`)
	s.press("p", "enter")
	s.mustShow("[ ] with the patch as edited", "+ const limit = 20")
	s.setEditor(`sed -i s/40/50/ "$1"`)
	s.press("p")
	s.mustShow("[x] with the patch as edited", "+ const limit = 50")
	s.setEditor(`sed -i s/50/20/ "$1"`)
	s.press("p")
	s.mustHide("as edited")
	s.press("y")
	if data := s.mustSend(protocol.DoApprove).(protocol.ApproveData); data.Input != nil {
		t.Errorf("got input %+v for an unchanged patch, want none", data.Input)
	}
}

func TestApprovalEditedPatchUnsupported(t *testing.T) {
	s := open(t, tuitest.Scenes["patch"](), 100, 40)
	s.focusApproval()
	s.setEditor(`sed -i s/20/40/ "$1"`)
	s.refuse(protocol.Errorf(protocol.CodeUnsupported, "the agent cannot take an edited patch"))
	s.press("p", "y")
	s.mustSend(protocol.DoApprove)
	s.mustShow("cannot take an edited patch", "[x] with the patch as edited")
	s.press("enter", "y")
	if data := s.mustSend(protocol.DoApprove).(protocol.ApproveData); data.Input != nil {
		t.Errorf("got input %+v for the original patch, want none", data.Input)
	}
}

func TestDenyWithoutPatch(t *testing.T) {
	s := open(t, tuitest.Scenes["patch"](), 100, 40)
	s.focusApproval()
	s.setEditor(`sed -i s/20/40/ "$1"`)
	s.press("p", "n")
	if data := s.mustSend(protocol.DoApprove).(protocol.ApproveData); data.Option != "deny" || data.Input != nil {
		t.Errorf("got decision %+v, want deny without input", data)
	}
}

func TestApprovalNothingToEdit(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 100, 40)
	s.focusApproval()
	s.press("p")
	s.mustShow("this agent takes no edited command")
	s.mustHide("p edit")
}

func TestApprovalEditPlanTask(t *testing.T) {
	s := open(t, tuitest.Scenes["tasks to confirm"](), 100, 40)
	s.focusApproval()
	s.press("down", "down", "down", "p")
	s.mustShow("select a task to edit it")
	s.waitGrace()
	s.press("up", "up", "p")
	s.typeText(" half of it")
	s.press("enter")
	s.mustShow("[x] task 2 after 1 ▏ Write half of it")
	s.press("y")
	want := []protocol.Task{
		{ID: "a", Title: "Read", Description: "all of it"},
		{ID: "b", Title: "Write half of it", After: []string{"a"}},
		{ID: "c", Title: "Build", After: []string{"a", "b"}},
	}
	if data := s.mustSend(protocol.DoApprove).(protocol.ApproveData); data.Input == nil ||
		!reflect.DeepEqual(data.Input.Tasks, want) {
		t.Errorf("got input %+v, want tasks %+v", data.Input, want)
	}
}

func TestApprovalCountdown(t *testing.T) {
	s := open(t, tuitest.Scenes["patch"](), 100, 40)
	s.waitGrace() // the wait for the clock is the next one
	for _, c := range []struct {
		after time.Duration
		want  string
	}{
		{-80 * time.Second, "expires in 1m45s"},
		{0, "expires in 25s"},
		{24 * time.Second, "expires in 1s"},
		{time.Minute, "expires now"},
	} {
		s.now = tuitest.Start.Add(time.Minute + c.after)
		s.tick()
		s.mustShow(c.want)
	}
	red := s.m.Styles.Error.Render("x")
	s.now = tuitest.Start.Add(time.Minute)
	s.tick()
	if !strings.Contains(s.m.View().Content, strings.SplitN(red, "x", 2)[0]+" · expires in 25s") {
		t.Error("the end of the countdown is not in the error style")
	}
}

func TestApprovalCountdownServerClock(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 100, 40)
	s.now = s.now.Add(-time.Hour)
	expires := s.journal.At.Add(90 * time.Second)
	a := tuitest.CommandApproval()
	a.Expires = &expires
	s.journal.RequestApproval(a)
	s.applyJournal()
	s.mustShow("expires in 1m30s")
	s.now = s.now.Add(80 * time.Second)
	s.tick()
	s.mustShow("expires in 10s")
}

func TestApprovalCountdownTick(t *testing.T) {
	s := open(t, tuitest.Scenes["patch"](), 100, 40)
	s.waitGrace()
	var after time.Duration
	s.m.After = func(d time.Duration, _ tea.Msg) tea.Cmd { after = d; return nil }
	s.tick()
	if after != time.Second {
		t.Errorf("got next tick after %v, want 1s", after)
	}
}

func TestQuestionWithoutAnswer(t *testing.T) {
	s := open(t, tuitest.Scenes["question"](), 80, 40)
	s.focusApproval()
	s.press("y")
	s.mustSendNothing()
	s.mustShow("no question is answered yet")
	s.press("n")
	if data := s.mustSend(protocol.DoApprove).(protocol.ApproveData); data.Option != "skip" {
		t.Errorf("got decision %+v, want skip", data)
	}
}

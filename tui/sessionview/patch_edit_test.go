package sessionview

import (
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
	s.mustShow("e edit", "+ const limit = 20")
	s.press("e")
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

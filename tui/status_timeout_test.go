package tui

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/tui/ui"
)

func TestStatusTimeoutLeavesNoTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := tuitest.NewFakeSession()
		keys, typing := io.Pipe()
		p, _, stop := startSession(t, r, keys, 80, 12)
		for _, u := range tuitest.MixedSession(3).Take() {
			r.Feed <- u
		}
		press := func(keys string) {
			if _, err := typing.Write([]byte(keys)); err != nil {
				t.Error(err)
			}
		}
		checkStatus := func(want bool) {
			t.Helper()
			synctest.Wait()
			if got := strings.Contains(p.screen(), "there is no tool call, approval or error after"); got != want {
				t.Fatalf("status message on the screen: got %v, want %v:\n%s", got, want, p.screen())
			}
		}
		tuitest.Wait(time.Second)
		press("\t")
		press("JJ")
		tuitest.Wait(ui.StatusTimeout - time.Second)
		checkStatus(true)
		press("J") // the same message again restarts the timeout
		tuitest.Wait(ui.StatusTimeout - time.Second)
		checkStatus(true)
		tuitest.Wait(2 * time.Second)
		checkStatus(false)
		drawn, timers := p.drawCount(), p.timers.Load()
		tuitest.Wait(time.Hour)
		if p.timers.Load() != timers {
			t.Error("an idle screen started a timer")
		}
		if p.drawCount() != drawn {
			t.Error("an idle screen was redrawn")
		}
		_ = typing.Close() // always returns nil
		stop()
	})
}

func TestDashboardStatusTimeout(t *testing.T) {
	d := newTestDashboard(t, 80, 12, tuitest.Summaries()...)
	d.p.dashboard.ShowStatus("it was decided elsewhere")
	d.send(struct{}{})
	d.now = d.now.Add(ui.StatusTimeout - time.Second)
	d.fireTimers()
	d.wantText("decided elsewhere")
	d.now = d.now.Add(time.Second)
	d.fireTimers()
	if !strings.Contains(d.screen(), "sessions") || strings.Contains(d.screen(), "decided elsewhere") {
		t.Errorf("want the status message cleared, got:\n%s", d.screen())
	}
}

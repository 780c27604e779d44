package tui

import (
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/internal/tuitest"
	"agentctl/tui/ui"
)

func TestStatusTimeoutLeavesNoTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := tuitest.NewRecording()
		keys, typing := io.Pipe()
		c, _, end := startSession(t, r, keys, 80, 12)
		for _, u := range tuitest.Varied(3).Take() {
			r.Feed <- u
		}
		press := func(keys string) {
			if _, err := typing.Write([]byte(keys)); err != nil {
				t.Error(err)
			}
		}
		says := func(want bool) {
			t.Helper()
			synctest.Wait()
			if got := strings.Contains(c.screen(), "there is no approval after"); got != want {
				t.Fatalf("the word is on the screen: %v, want %v:\n%s", got, want, c.screen())
			}
		}
		tuitest.Pass(time.Second)
		press("\t")
		press("aa")
		tuitest.Pass(ui.StatusTimeout - time.Second)
		says(true)
		press("a") // the same word once more stands for its whole time
		tuitest.Pass(ui.StatusTimeout - time.Second)
		says(true)
		tuitest.Pass(2 * time.Second)
		says(false)
		drawn, timers := c.drawCount(), c.timers.Load()
		tuitest.Pass(time.Hour)
		if c.timers.Load() != timers {
			t.Error("a timer runs on an idle screen")
		}
		if c.drawCount() != drawn {
			t.Error("the idle screen was drawn anew")
		}
		_ = typing.Close() // the pipe has no reader that fails
		end()
	})
}

func TestDashboardStatusTimeout(t *testing.T) {
	d := newTestDashboard(t, 80, 12, testSummaries()...)
	d.p.dashboard.ShowStatus("it was decided meanwhile")
	d.send(struct{}{})
	due := func(m timer) bool { _, ok := m.msg.(ui.StatusTimeoutMsg); return ok }
	if i := slices.IndexFunc(d.timers, due); i < 0 || d.timers[i].after != ui.StatusTimeout {
		t.Fatalf("it goes by %v", d.timers)
	}
	d.now = d.now.Add(ui.StatusTimeout)
	d.fireTimers(due)
	if !strings.Contains(d.screen(), "sessions") || strings.Contains(d.screen(), "decided meanwhile") {
		t.Errorf("it is still there:\n%s", d.screen())
	}
}

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

func TestAWordGoesByItselfAndAnIdleScreenHasNoTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := tuitest.NewFakeSession()
		keys, typing := io.Pipe()
		c, _, end := launch(t, r, keys, 80, 12)
		for _, u := range tuitest.MixedSession(3).Take() {
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
		tuitest.Wait(time.Second)
		press("\t")
		press("aa")
		tuitest.Wait(ui.StatusTimeout - time.Second)
		says(true)
		press("a") // the same word once more stands for its whole time
		tuitest.Wait(ui.StatusTimeout - time.Second)
		says(true)
		tuitest.Wait(2 * time.Second)
		says(false)
		drawn, timers := c.drawn(), c.timers.Load()
		tuitest.Wait(time.Hour)
		if c.timers.Load() != timers {
			t.Error("a timer runs on an idle screen")
		}
		if c.drawn() != drawn {
			t.Error("the idle screen was drawn anew")
		}
		_ = typing.Close() // the pipe has no reader that fails
		end()
	})
}

func TestTheDesksWordGoesByItself(t *testing.T) {
	b := newTable(t, 80, 12, fleetOfFive()...)
	b.p.dashboard.ShowStatus("it was decided meanwhile")
	b.give(struct{}{})
	due := func(m timer) bool { _, ok := m.msg.(ui.StatusTimeoutMsg); return ok }
	if i := slices.IndexFunc(b.timers, due); i < 0 || b.timers[i].after != ui.StatusTimeout {
		t.Fatalf("it goes by %v", b.timers)
	}
	b.now = b.now.Add(ui.StatusTimeout)
	b.fire(due)
	if !strings.Contains(b.text(), "sessions") || strings.Contains(b.text(), "decided meanwhile") {
		t.Errorf("it is still there:\n%s", b.text())
	}
}

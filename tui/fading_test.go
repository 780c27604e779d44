package tui

import (
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAWordGoesByItselfAndAnIdleScreenHasNoTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecording()
		keys, typing := io.Pipe()
		c, _, end := launch(t, r, keys, 80, 12)
		for _, u := range varied(3).take() {
			r.updates <- u
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
		pass(time.Second)
		press("\t")
		press("aa")
		pass(StatusTimeout - time.Second)
		says(true)
		press("a") // the same word once more stands for its whole time
		pass(StatusTimeout - time.Second)
		says(true)
		pass(2 * time.Second)
		says(false)
		drawn, timers := c.drawn(), c.timers.Load()
		pass(time.Hour)
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
	due := func(m timer) bool { _, ok := m.msg.(StatusTimeoutMsg); return ok }
	if i := slices.IndexFunc(b.timers, due); i < 0 || b.timers[i].after != StatusTimeout {
		t.Fatalf("it goes by %v", b.timers)
	}
	b.now = b.now.Add(StatusTimeout)
	b.fire(due)
	if !strings.Contains(b.text(), "sessions") || strings.Contains(b.text(), "decided meanwhile") {
		t.Errorf("it is still there:\n%s", b.text())
	}
}

package tui

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
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
		c.mu.Lock()
		woken := c.sessions.shown.view.status.waking
		c.mu.Unlock()
		if woken {
			t.Error("a timer runs on an idle screen")
		}
		drawn := c.drawn()
		pass(time.Hour)
		if c.drawn() != drawn {
			t.Error("the idle screen was drawn anew")
		}
		_ = typing.Close() // the pipe has no reader that fails
		end()
	})
}

func TestTheWordOfATripStandsUntilItsEnd(t *testing.T) {
	s := open(t, long(5), 60, 20)
	s.m.transcript.view.before = 2
	s.press("tab")
	s.m.Update(press("E"))
	s.shows("looking further back …")
	s.now = s.now.Add(time.Minute)
	s.give(tickMsg{})
	s.shows("looking further back …")
}

func TestTheDesksWordGoesByItself(t *testing.T) {
	b := newTable(t, 80, 12, fleetOfFive()...)
	var due time.Duration
	b.p.dashboard.After = func(d time.Duration, msg tea.Msg) tea.Cmd {
		if _, ok := msg.(StatusTimeoutMsg); ok {
			due = d
		}
		return nil
	}
	b.p.dashboard.status.Text = "it was decided meanwhile"
	b.give(struct{}{})
	if due != StatusTimeout {
		t.Fatalf("it goes in %v", due)
	}
	b.now = b.now.Add(StatusTimeout)
	b.give(StatusTimeoutMsg{b.p.dashboard.status})
	if b.p.dashboard.status.Text != "" || !strings.Contains(b.text(), "sessions") || strings.Contains(b.text(), "decided meanwhile") {
		t.Errorf("it is still there:\n%s", b.text())
	}
}

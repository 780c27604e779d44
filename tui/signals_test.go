package tui

import (
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
)

func TestStaleSignalIsIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := interruptMsg{time.Now()}
		if msg := filterSignals(nil, s); msg != (tea.InterruptMsg{}) {
			t.Errorf("got %T for a new signal, want tea.InterruptMsg", msg)
		}
		time.Sleep(time.Second) // while an editor runs
		if msg := filterSignals(nil, s); msg != nil {
			t.Errorf("got %T for a stale signal, want nil", msg)
		}
		if msg := filterSignals(nil, struct{}{}); msg != (struct{}{}) {
			t.Errorf("got %T for another message, want it unchanged", msg)
		}
	})
}

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
			t.Errorf("a signal became %T", msg)
		}
		time.Sleep(time.Second) // an editor has the terminal
		if msg := filterSignals(nil, s); msg != nil {
			t.Errorf("an old signal became %T", msg)
		}
		if msg := filterSignals(nil, struct{}{}); msg != (struct{}{}) {
			t.Errorf("a tick became %T", msg)
		}
	})
}

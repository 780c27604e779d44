package panel

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// Timer delivers a [DueMsg] to each part at its deadline. It keeps one message pending, for the
// earliest deadline.
type Timer struct {
	at time.Time // of the pending message; zero: none
}

// TimerMsg ends the wait for the deadline At. Its receiver calls Fire.
type TimerMsg struct{ At time.Time }

// Start waits for the earliest deadline of parts by a command made by after. It returns nil without
// a deadline, and while no deadline is earlier than the one it waits for.
func (t *Timer) Start(parts []Part, now time.Time, after func(time.Duration, tea.Msg) tea.Cmd) tea.Cmd {
	var earliest time.Time
	for _, part := range parts {
		if d := part.Deadline(); earliest.IsZero() || !d.IsZero() && d.Before(earliest) {
			earliest = d
		}
	}
	if earliest.IsZero() || !t.at.IsZero() && !earliest.Before(t.at) {
		return nil
	}
	t.at = earliest
	return after(max(0, earliest.Sub(now)), TimerMsg{earliest})
}

// Fire sends a [DueMsg] to the parts whose deadline has come. It reports whether one of them looks
// different.
func (t *Timer) Fire(msg TimerMsg, now time.Time, parts []Part) (cmd tea.Cmd, changed bool) {
	if msg.At.After(now) {
		now = msg.At // the clock was set back
	}
	if msg.At.Equal(t.at) {
		t.at = time.Time{}
	}
	var cmds []tea.Cmd
	for _, part := range parts {
		if d := part.Deadline(); d.IsZero() || d.After(now) {
			continue
		}
		cmd, different := part.Update(DueMsg{})
		changed = changed || different
		if cmd != nil {
			cmds = append(cmds, cmd)
		}
	}
	return tea.Batch(cmds...), changed
}

package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// Timed is a part of a screen that does something at a deadline. It states the deadline and starts no
// timer: the screen has one [Timer] for all parts.
type Timed interface {
	// Deadline returns the time of the next call of Due, or zero.
	Deadline() time.Time

	// Due handles that the deadline has come. It reports whether the part looks different.
	Due() (cmd tea.Cmd, changed bool)
}

// Timer calls Due of each part at its deadline. It keeps one message pending, for the earliest
// deadline.
type Timer struct {
	at time.Time // of the pending message; zero: none
}

// TimerMsg ends the wait for the deadline At. Its receiver calls Fire.
type TimerMsg struct{ At time.Time }

// Start waits for the earliest deadline of parts by a command made by after. It returns nil without
// a deadline, and while no deadline is earlier than the one it waits for.
func (t *Timer) Start(parts []Timed, now time.Time, after func(time.Duration, tea.Msg) tea.Cmd) tea.Cmd {
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

// Fire calls Due of the parts whose deadline has come. It reports whether one of them looks
// different.
func (t *Timer) Fire(msg TimerMsg, now time.Time, parts []Timed) (cmd tea.Cmd, changed bool) {
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
		cmd, different := part.Due()
		changed = changed || different
		if cmd != nil {
			cmds = append(cmds, cmd)
		}
	}
	return tea.Batch(cmds...), changed
}

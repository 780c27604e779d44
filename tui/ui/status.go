package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// StatusTimeout is how long a status message is shown, unless a key clears it.
const StatusTimeout = 6 * time.Second

// Status is the status message of a screen. Its owner calls Expire after every message of the program;
// while there is no text there is no timer.
type Status struct {
	Text string

	shown  string // the text that the deadline is for
	until  time.Time
	waking bool // a StatusTimeoutMsg is on its way
}

// StatusTimeoutMsg says that the time of a status message may be over. Its receiver calls Wake.
type StatusTimeoutMsg struct{ status *Status }

// Wake notes that the timer has ended.
func (m StatusTimeoutMsg) Wake() { m.status.waking = false }

// Clear removes the text. The same text set again is shown for its whole time.
func (s *Status) Clear() { s.Text, s.shown = "", "" }

// Expire removes a text whose time is over and reports whether it did. Else it returns the timer to start,
// through after, or nil.
func (s *Status) Expire(now time.Time, after func(time.Duration, tea.Msg) tea.Cmd) (cmd tea.Cmd, expired bool) {
	if s.Text != s.shown {
		s.shown, s.until = s.Text, now.Add(StatusTimeout)
	}
	left := s.until.Sub(now)
	switch {
	case s.Text == "":
		return nil, false
	case left <= 0:
		s.Clear()
		return nil, true
	case s.waking:
		return nil, false
	}
	s.waking = true
	return after(left, StatusTimeoutMsg{s}), false
}

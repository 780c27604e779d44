package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// StatusTimeout is how long a status message is shown unless a key clears it.
const StatusTimeout = 6 * time.Second

// UndoTimeout is how long a removal can be undone and its status message is shown.
const UndoTimeout = 10 * time.Second

// Status is the status message of a screen. Its owner calls Expire after every message of the
// program. No timer is started while Text is empty.
type Status struct {
	Text string

	undoText     string // a text that is shown for UndoTimeout
	timedText    string // the text that until applies to
	deadline     time.Time
	timerPending bool // a StatusTimeoutMsg is pending
}

// StatusTimeoutMsg reports that a status message may have expired. Its receiver calls Wake.
type StatusTimeoutMsg struct{ status *Status }

// Wake records that the timer has fired.
func (m StatusTimeoutMsg) Wake() { m.status.timerPending = false }

// ShowUndo sets a text that offers to undo something.
func (s *Status) ShowUndo(text string) { s.Text, s.undoText, s.timedText = text, text, "" }

// Clear removes the text. The same text set again gets the full timeout.
func (s *Status) Clear() { s.Text, s.timedText = "", "" }

// Expire removes an expired text and reports whether it did. Otherwise it returns a timer command
// made by after, or nil if none is needed.
func (s *Status) Expire(now time.Time, after func(time.Duration, tea.Msg) tea.Cmd) (cmd tea.Cmd, expired bool) {
	if s.Text != s.timedText {
		timeout := StatusTimeout
		if s.Text == s.undoText {
			timeout = UndoTimeout
		}
		s.timedText, s.deadline = s.Text, now.Add(timeout)
	}
	left := s.deadline.Sub(now)
	switch {
	case s.Text == "":
		return nil, false
	case left <= 0:
		s.Clear()
		return nil, true
	case s.timerPending:
		return nil, false
	}
	s.timerPending = true
	return after(left, StatusTimeoutMsg{s}), false
}

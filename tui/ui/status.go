package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// StatusTimeout is how long a status message is shown unless a key clears it.
const StatusTimeout = 6 * time.Second

// UndoTimeout is how long a removal can be undone and its status message is shown.
const UndoTimeout = 10 * time.Second

// Status is the status message of a screen. It has a deadline while Text is not empty.
type Status struct {
	Text string

	now       func() time.Time
	keep      func() bool // reports whether the text stays for now; may be nil
	undoText  string      // a text that is shown for UndoTimeout
	timedText string      // the text that deadline applies to
	deadline  time.Time
}

// ShowUndo sets a text that offers to undo something.
func (s *Status) ShowUndo(text string) { s.Text, s.undoText, s.timedText = text, text, "" }

// Clear removes the text. The same text set again gets the full timeout.
func (s *Status) Clear() { s.Text, s.timedText = "", "" }

// Deadline implements [Timed]. It starts the timeout of a new text.
func (s *Status) Deadline() time.Time {
	if s.keep != nil && s.keep() {
		return time.Time{}
	}
	if s.Text != s.timedText {
		timeout := StatusTimeout
		if s.Text == s.undoText {
			timeout = UndoTimeout
		}
		s.timedText, s.deadline = s.Text, s.now().Add(timeout)
	}
	if s.Text == "" {
		return time.Time{}
	}
	return s.deadline
}

// Due implements [Timed]. It removes the text.
func (s *Status) Due() (cmd tea.Cmd, changed bool) {
	s.Clear()
	return nil, true
}

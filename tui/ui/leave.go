package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// LeaveTimeout is how long a second ctrl+c ends the program after a first one.
const LeaveTimeout = 2 * time.Second

// leave confirms that the user leaves the program: ctrl+c must be pressed twice. Its owner calls
// cancel at every other key.
type leave struct {
	deadline time.Time // of the second press; zero: there was no first one
}

// pending reports whether the first ctrl+c was pressed.
func (l *leave) pending() bool { return !l.deadline.IsZero() }

// press handles ctrl+c. The second press returns [tea.Quit].
func (l *leave) press(now time.Time) tea.Cmd {
	if l.pending() {
		return tea.Quit
	}
	l.deadline = now.Add(LeaveTimeout)
	return nil
}

// cancel forgets the first press.
func (l *leave) cancel() { l.deadline = time.Time{} }

// Deadline implements [Timed].
func (l *leave) Deadline() time.Time { return l.deadline }

// Due implements [Timed].
func (l *leave) Due() (cmd tea.Cmd, changed bool) {
	l.cancel()
	return nil, true
}

package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// LeaveTimeout is how long a second ctrl+c ends the program after a first one.
const LeaveTimeout = 2 * time.Second

// Leave confirms that the user leaves the program: ctrl+c must be pressed twice. Its owner calls
// Cancel at every other key.
type Leave struct {
	Pending bool // the first ctrl+c was pressed
	presses int
}

// LeaveTimeoutMsg reports the end of a LeaveTimeout. Its receiver calls Expire.
type LeaveTimeoutMsg struct {
	leave *Leave
	press int
}

// Press handles ctrl+c. The first press starts a timer made by after. The second returns
// [tea.Quit].
func (l *Leave) Press(after func(time.Duration, tea.Msg) tea.Cmd) tea.Cmd {
	if l.Pending {
		return tea.Quit
	}
	l.Pending = true
	l.presses++
	return after(LeaveTimeout, LeaveTimeoutMsg{l, l.presses})
}

// Cancel forgets the first press.
func (l *Leave) Cancel() { l.Pending = false }

// Expire forgets the press that started the timer, unless there was a later one.
func (m LeaveTimeoutMsg) Expire() {
	if m.leave.presses == m.press {
		m.leave.Pending = false
	}
}

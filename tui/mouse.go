package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// mouse is the state of the mouse.
type mouse struct {
	now       func() time.Time
	enabled   bool      // mouse reports are enabled
	focusedAt time.Time // when the terminal got the focus
}

// focusClickTime is the time after the focus of the terminal in which a click is the one that
// focused it.
const focusClickTime = 200 * time.Millisecond

// filter returns the message, or nil for the click that gave the terminal the focus.
func (m *mouse) filter(msg tea.Msg) tea.Msg {
	switch msg.(type) {
	case tea.FocusMsg:
		m.focusedAt = m.now()
	case tea.MouseClickMsg:
		if m.now().Sub(m.focusedAt) < focusClickTime {
			return nil
		}
	}
	return msg
}

// moveMouse returns a mouse event at another place.
func moveMouse(msg tea.MouseMsg, x, y int) tea.Msg {
	m := msg.Mouse()
	m.X, m.Y = m.X+x, m.Y+y
	switch msg.(type) {
	case tea.MouseClickMsg:
		return tea.MouseClickMsg(m)
	case tea.MouseReleaseMsg:
		return tea.MouseReleaseMsg(m)
	case tea.MouseWheelMsg:
		return tea.MouseWheelMsg(m)
	}
	return tea.MouseMotionMsg(m)
}

package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

// mouse turns clicks on what is marked on the screen into keys and rows.
type mouse struct {
	now       func() time.Time
	enabled   bool      // mouse reports are enabled
	marks     bool      // the screen has marks, or had some that are still drawn
	focusedAt time.Time // when the terminal got the focus
	screen    ui.Clickable

	// beside reports whether a cell is in a session without the focus: a click there only moves the focus.
	beside func(x, y int) bool
}

// toggle switches mouse reports on or off. It returns a status message.
func (m *mouse) toggle(keys *keymap.Map) string {
	m.enabled, m.marks = !m.enabled, true
	keys.SetClickable(m.enabled)
	if m.enabled {
		return "mouse on" + keymap.Separator + "shift or option and a drag select text"
	}
	return "mouse off" + keymap.Separator + "the terminal selects text"
}

// focusClickTime is the time after the focus of the terminal in which a click is the one that
// focused it.
const focusClickTime = 200 * time.Millisecond

// filter returns the messages in the place of one: none for the click that gave the terminal the focus
// and for one on a new request, keys for a click on a hint, and a ui.RowMsg for the mouse on a row.
func (m *mouse) filter(msg tea.Msg) []tea.Msg {
	switch msg := msg.(type) {
	case tea.FocusMsg:
		m.focusedAt = m.now()
	case tea.MouseClickMsg:
		now := m.now()
		if now.Sub(m.focusedAt) < focusClickTime || now.Before(m.screen.New()) {
			return nil
		}
		if !m.beside(msg.X, msg.Y) {
			return m.screen.Click(msg)
		}
	case tea.MouseWheelMsg:
		row := m.screen.At(msg.X, msg.Y)
		if row != nil && len(row.Keys) == 0 && !m.beside(msg.X, msg.Y) {
			return []tea.Msg{ui.RowMsg{List: row.List, Row: row.Row, Wheel: ui.WheelRows(msg)}}
		}
	}
	return []tea.Msg{msg}
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

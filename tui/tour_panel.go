package tui

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/tour"
	"agentctl/tui/ui"
)

// tourPanel shows the guide of the tour below the screens. It takes its rows from the size of the
// terminal.
type tourPanel struct {
	guide         *tour.Guide // nil: no tour
	styles        *ui.Styles
	width, height int // of the screens above
}

// filter reports whether the panel takes the message: the key that skips a step, and the mouse on
// its rows. It returns any other message, and a size without these rows.
func (t *tourPanel) filter(msg tea.Msg) (next tea.Msg, taken bool) {
	if t.guide == nil {
		return msg, false
	}
	switch m := msg.(type) {
	case tea.WindowSizeMsg:
		m.Height -= tour.Rows(m.Height)
		t.width, t.height = max(m.Width, 1), max(m.Height, 1)
		return m, false
	case tea.KeyPressMsg:
		if t.styles.Keys.At(keymap.Tour, m.String()) == keymap.SkipStep {
			t.guide.Skip()
			return nil, true
		}
	case tea.MouseMsg:
		return msg, m.Mouse().Y >= t.height
	}
	return msg, false
}

// observe shows the guide the state after a message: of the session with the focus, or nil for the
// dashboard, and the scope of the keys.
func (t *tourPanel) observe(session *protocol.State, scope keymap.Scope, conn remote.ConnState) {
	if t.guide != nil {
		t.guide.Observe(&tour.Screen{Session: session, Scope: scope, Conn: conn})
	}
}

// draw appends the panel to the screen.
func (t *tourPanel) draw(v *tea.View) {
	if t.guide == nil {
		return
	}
	for _, line := range t.guide.View(t.styles, t.width, t.height+tour.Rows(t.height)) {
		v.Content += "\n" + line
	}
}

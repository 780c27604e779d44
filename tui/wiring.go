package tui

import tea "charm.land/bubbletea/v2"

// showWire opens the wire.
func (m *model) showWire() tea.Cmd {
	m.wire = openWire(m.session, m.look, m.errands, m.now, m.mux)
	if m.wire == nil {
		m.word = "the wire of this session cannot be seen"
		return nil
	}
	return m.wire.read()
}

// showWire opens the wire while no session is on the screen.
func (d *desk) showWire() tea.Cmd {
	d.wire = openWire(d.fleet, d.look, d.work, d.now, d.mux)
	if d.wire == nil {
		d.word = "the wire cannot be seen"
		return nil
	}
	return d.wire.read()
}

// wireKey gives a key to the wire that is open at a screen; it is nil when that left it.
func wireKey(at **wire, key string, msg tea.KeyPressMsg) tea.Cmd {
	cmd, open := (*at).key(key, msg)
	if !open {
		*at = nil
	}
	return cmd
}

// takeWire takes what an errand of a screen's wire brought, and marks the screen, unless the wire was left meanwhile.
func takeWire(at *wire, dirty *bool, msg tea.Msg) tea.Cmd {
	if at == nil || !at.owns(msg) {
		return nil
	}
	*dirty = true
	return at.take(msg)
}

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

func (m *model) wireKey(key string, msg tea.KeyPressMsg) tea.Cmd {
	cmd, open := m.wire.key(key, msg)
	if !open {
		m.wire = nil
	}
	return cmd
}

// wired takes what an errand of the wire brought, unless the wire was left meanwhile.
func (m *model) wired(msg tea.Msg) tea.Cmd {
	if m.wire == nil || !m.wire.owns(msg) {
		return nil
	}
	m.dirty = true
	return m.wire.take(msg)
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

func (d *desk) wireKey(key string, msg tea.KeyPressMsg) tea.Cmd {
	cmd, open := d.wire.key(key, msg)
	if !open {
		d.wire = nil
	}
	return cmd
}

// wired takes what an errand of the desk's wire brought, unless the wire was left meanwhile.
func (d *desk) wired(msg tea.Msg) tea.Cmd {
	if d.wire == nil || !d.wire.owns(msg) {
		return nil
	}
	d.dirty = true
	return d.wire.take(msg)
}

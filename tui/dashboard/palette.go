package dashboard

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
	"agentctl/tui/palette"
	"agentctl/tui/ui"
)

// newPalette returns the palette, or nil if the overlay on top is one.
func (d *Dashboard) newPalette(top ui.Overlay) ui.Overlay {
	if _, isPalette := top.(*palette.Palette); isPalette {
		return nil
	}
	return palette.New(d.Styles, func() []palette.Command {
		return palette.OfScreen(d.Styles.Keys, keymap.OnDashboard, keymap.Sessions)
	})
}

// Act carries out an action of the list or of the global scope.
func (d *Dashboard) Act(action keymap.Action) (tea.Cmd, ui.Intent) {
	d.canvas.Dirty = true
	if action == keymap.Quit {
		return tea.Quit, nil
	}
	if cmd, intent, handled := d.actGlobal(action); handled {
		return cmd, intent
	}
	return d.pressList(action)
}

// Scope returns the scope of the part with the focus: the overlay on top, or the list.
func (d *Dashboard) Scope() keymap.Scope {
	if top := d.overlays.Top(); top != nil {
		return top.Scope()
	}
	return keymap.Sessions
}

package dashboard

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
	"agentctl/tui/palette"
	"agentctl/tui/ui"
)

// commands returns the commands of the dashboard.
func (d *Dashboard) commands() []palette.Command {
	return palette.OfScreen(d.Styles.Keys, keymap.OnDashboard, keymap.Sessions)
}

// pressAnywhere handles the keys that work in every overlay and every text field: those that open
// the palette and the help.
func (d *Dashboard) pressAnywhere(key string) bool {
	top := d.overlays.Top()
	_, isPager := top.(*ui.Pager)
	_, isPalette := top.(*palette.Palette)
	switch action := d.Styles.Keys.At(keymap.Global, key); {
	case action == keymap.OpenPalette && !isPalette:
		d.overlays.Push(palette.New(d.Styles, d.commands))
	case action == keymap.Help && top != nil && !isPager:
		d.overlays.Push(ui.NewHelp(d.Styles, top.Scope()))
	default:
		return false
	}
	return true
}

// Act carries out an action of the list or of the global scope.
func (d *Dashboard) Act(action keymap.Action) (tea.Cmd, any) {
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

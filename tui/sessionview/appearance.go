package sessionview

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/tui/keymap"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/ui"
)

// appearanceActions returns the actions that change how the screen looks.
func appearanceActions(s *ui.Styles, status *ui.Status) panel.Actions {
	chooseTheme := func(name string) panel.Result {
		if theme := ui.Theme(strings.ToLower(name)); slices.Contains(ui.Themes(), theme) {
			return panel.Result{Cmd: func() tea.Msg { return ui.ThemeMsg{Theme: theme} }}
		}
		if name != "" {
			status.Text = "no theme " + format.JoinLines(name)
		}
		return panel.Result{Push: ui.NewThemeMenu(s)}
	}
	return panel.Actions{
		keymap.ChooseTheme: {Text: true, Run: chooseTheme},
		keymap.SwitchMouse: panel.Run(func() tea.Cmd { return ui.SwitchMouse }),
		keymap.Redraw:      panel.Run(func() tea.Cmd { return tea.ClearScreen }),
	}
}

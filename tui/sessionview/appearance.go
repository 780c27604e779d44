package sessionview

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/tui/keymap"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/thumbnail"
	"agentctl/tui/ui"
)

// appearanceActions returns the actions that change how the screen looks.
func appearanceActions(s *ui.Styles, status *ui.Status) panel.Actions {
	theme := func(name string) panel.Result {
		theme := ui.Theme(strings.ToLower(name))
		if slices.Contains(ui.Themes(), theme) {
			return panel.Result{Cmd: func() tea.Msg { return ui.ThemeMsg{Theme: theme} }}
		}
		if name != "" {
			status.Text = "no theme " + format.JoinLines(name)
		}
		return panel.Result{Push: ui.NewThemeMenu(s)}
	}
	images := func(name string) panel.Result {
		mode := thumbnail.Mode(strings.ToLower(name))
		if slices.Contains(thumbnail.Modes(), mode) {
			return panel.Result{Cmd: func() tea.Msg { return ui.ImagesMsg{Mode: mode} }}
		}
		if name != "" {
			status.Text = "no images mode " + format.JoinLines(name)
		}
		return panel.Result{Push: ui.NewImagesMenu(s)}
	}
	return panel.Actions{
		keymap.ChooseTheme:  {Run: theme, Text: true},
		keymap.ChooseImages: {Run: images, Text: true},
		keymap.Redraw: panel.Run(func() tea.Cmd {
			return tea.Batch(tea.ClearScreen, tea.Raw(s.Images.Entered()))
		}),
	}
}

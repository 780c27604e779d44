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
	theme := func(t ui.Theme) tea.Msg { return ui.ThemeMsg{Theme: t} }
	images := func(m thumbnail.Mode) tea.Msg { return ui.ImagesMsg{Mode: m} }
	return panel.Actions{
		keymap.ChooseTheme:  choose(s, status, "theme", ui.Themes(), theme, ui.NewThemeMenu),
		keymap.ChooseImages: choose(s, status, "images mode", thumbnail.Modes(), images, ui.NewImagesMenu),
		keymap.Redraw: panel.Run(func() tea.Cmd {
			return tea.Batch(tea.ClearScreen, tea.Raw(s.Images.Entered()))
		}),
	}
}

// choose returns an action that sends the message of the value that a text names, or else opens a menu
// of the values.
func choose[T ~string](
	s *ui.Styles, status *ui.Status, what string, values []T, msg func(T) tea.Msg, menu func(*ui.Styles) *ui.Menu,
) panel.Action {
	return panel.Action{Text: true, Run: func(name string) panel.Result {
		if value := T(strings.ToLower(name)); slices.Contains(values, value) {
			return panel.Result{Cmd: func() tea.Msg { return msg(value) }}
		}
		if name != "" {
			status.Text = "no " + what + " " + format.JoinLines(name)
		}
		return panel.Result{Push: menu(s)}
	}}
}

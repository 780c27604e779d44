package sessionview

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/tui/keymap"
	"agentctl/tui/sessionview/settings"
	"agentctl/tui/thumbnail"
	"agentctl/tui/ui"
)

// withText returns the function that runs a command with the text after its word. It reports false
// if the command takes no such text.
func (v *View) withText(action keymap.Action, text string) (run func() tea.Cmd, ok bool) {
	switch {
	case text == "" && action != keymap.RenameSession:
		return func() tea.Cmd { return v.runAction(action) }, true
	case action == keymap.Find:
		return func() tea.Cmd { return v.applyPaneResult(v.transcript.Search(text)) }, true
	case action == keymap.RenameSession:
		return func() tea.Cmd {
			v.overlays.Push(settings.NewRename(v.Styles, v.replica, v.commands, v.overlays, text))
			return nil
		}, true
	case action == keymap.ChooseTheme:
		return func() tea.Cmd { return v.setTheme(text) }, true
	case action == keymap.ChooseImages:
		return func() tea.Cmd { return v.setImages(text) }, true
	case action == keymap.ExportSession:
		return func() tea.Cmd { return v.files.Export(text) }, true
	}
	return nil, false
}

// setTheme switches to a theme by its name. Another text opens the menu of the themes.
func (v *View) setTheme(name string) tea.Cmd {
	theme := ui.Theme(strings.ToLower(name))
	if !slices.Contains(ui.Themes(), theme) {
		v.status.Text = "no theme " + format.JoinLines(name)
		v.overlays.Push(ui.NewThemeMenu(v.Styles))
		return nil
	}
	return func() tea.Msg { return ui.ThemeMsg{Theme: theme} }
}

// setImages sets how images are drawn. Another text opens the menu.
func (v *View) setImages(name string) tea.Cmd {
	mode := thumbnail.Mode(strings.ToLower(name))
	if !slices.Contains(thumbnail.Modes(), mode) {
		v.status.Text = "no images mode " + format.JoinLines(name)
		v.overlays.Push(ui.NewImagesMenu(v.Styles))
		return nil
	}
	return func() tea.Msg { return ui.ImagesMsg{Mode: mode} }
}

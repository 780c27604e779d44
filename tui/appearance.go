package tui

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/ui"
)

// appearance changes the styles of all screens: theme and colours of the terminal.
type appearance struct{ styles *ui.Styles }

// filter handles the messages that change the appearance. In their place it returns the message
// with which the screens draw it, or nil. It returns any other message.
func (a *appearance) filter(msg tea.Msg) (tea.Msg, tea.Cmd) {
	switch m := msg.(type) {
	case tea.BackgroundColorMsg, tea.ColorProfileMsg, tea.ModeReportMsg:
		if a.styles.Update(msg) {
			return ui.RestyleMsg{}, nil
		}
		return nil, nil
	case ui.ThemeMsg:
		query, changed := a.styles.SetTheme(m.Theme)
		if !changed {
			return nil, query
		}
		return ui.RestyleMsg{}, query
	}
	return msg, nil
}

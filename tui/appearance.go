package tui

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/ui"
)

// changeAppearance handles the messages that change the styles of all screens: theme and colours of the
// terminal. In their place it returns the message with which the screens draw it, or nil. It returns any
// other message.
func changeAppearance(s *ui.Styles, msg tea.Msg) (tea.Msg, tea.Cmd) {
	switch m := msg.(type) {
	case tea.BackgroundColorMsg, tea.ColorProfileMsg, tea.ModeReportMsg:
		if s.Update(msg) {
			return ui.RestyleMsg{}, nil
		}
		return nil, nil
	case ui.ThemeMsg:
		query, changed := s.SetTheme(m.Theme)
		if !changed {
			return nil, query
		}
		return ui.RestyleMsg{}, query
	}
	return msg, nil
}

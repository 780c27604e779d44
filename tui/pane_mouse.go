package tui

import tea "charm.land/bubbletea/v2"

// handleMouse passes a mouse event to the session below it, in the coordinates of its pane. A click
// on another session gives it the focus and does nothing else. The mouse drags borders.
func (p *program) handleMouse(msg tea.MouseMsg) tea.Cmd {
	s, m := &p.panes, msg.Mouse()
	click, clicked := msg.(tea.MouseClickMsg)
	if s.dragged != nil {
		switch msg.(type) {
		case tea.MouseMotionMsg:
			s.layout = s.layout.Drag(*s.dragged, m.X, m.Y)
			return p.showPanes()
		case tea.MouseReleaseMsg:
			s.dragged = nil
			return nil
		}
		s.dragged = nil // the terminal sent no release
	}
	if clicked && click.Button == tea.MouseLeft {
		if b := s.screen.BorderAt(m.X, m.Y); b != nil {
			border := *b
			s.dragged = &border
		}
	}
	pane := s.screen.At(m.X, m.Y)
	switch {
	case pane == nil:
		return nil
	case clicked && pane.Session != s.layout.Focus():
		s.layout = s.layout.Open(pane.Session)
		return p.showPanes()
	case !pane.Content.Contains(m.X, m.Y):
		return nil
	}
	return p.updateSession(p.sessions.find(pane.Session), moveMouse(msg, -pane.Content.X, -pane.Content.Y))
}

// moveMouse returns a mouse event at another place.
func moveMouse(msg tea.MouseMsg, x, y int) tea.Msg {
	m := msg.Mouse()
	m.X, m.Y = m.X+x, m.Y+y
	switch msg.(type) {
	case tea.MouseClickMsg:
		return tea.MouseClickMsg(m)
	case tea.MouseReleaseMsg:
		return tea.MouseReleaseMsg(m)
	case tea.MouseWheelMsg:
		return tea.MouseWheelMsg(m)
	}
	return tea.MouseMotionMsg(m)
}

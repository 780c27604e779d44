package tui

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/tour"
)

// guideInput gives the skip key to the guide of the tour and reports whether it has taken the
// message. The rows of the panel take no clicks.
func (p *program) guideInput(msg tea.Msg) bool {
	if p.tour == nil {
		return false
	}
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if p.styles.Keys.At(keymap.Tour, msg.String()) == keymap.SkipStep {
			p.tour.Skip()
			return true
		}
	case tea.MouseMsg:
		return msg.Mouse().Y >= p.height
	}
	return false
}

// observeTour shows the guide of the tour the state after a message.
func (p *program) observeTour() {
	if p.tour == nil {
		return
	}
	s := tour.Screen{Scope: keymap.Sessions, Conn: remote.Connected}
	if o := p.sessions.shown; o != nil {
		s.Session, s.Scope, s.Conn = o.view.State(), o.view.Scope(), o.view.Conn()
	} else if p.dashboard != nil {
		s.Scope = p.dashboard.Scope()
	}
	p.tour.Observe(&s)
}

// tourRows returns the rows of the panel of the tour on a screen of the given height.
func (p *program) tourRows(height int) int {
	if p.tour == nil {
		return 0
	}
	return tour.Rows(height)
}

// addTour appends the panel of the tour to the screen.
func (p *program) addTour(v *tea.View) {
	if p.tour == nil {
		return
	}
	for _, line := range p.tour.View(p.styles, p.width, p.height+tour.Rows(p.height)) {
		v.Content += "\n" + line
	}
}

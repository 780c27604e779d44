package tui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/dashboard"
	"agentctl/tui/keymap"
	"agentctl/tui/sessionview"
	"agentctl/tui/split"
	"agentctl/tui/ui"
)

// panes are the sessions side by side. While the dashboard is on the screen they wait for it to
// close.
type panes struct {
	layout  split.Layout
	screen  split.Arrangement // of the layout, when it was shown last
	dragged *split.Border     // border that the mouse moves; nil: none
	frame   paneFrame
	store   layoutStore
}

// Cells by which a key resizes a pane.
const (
	widthStep  = 4
	heightStep = 2
)

// PaneOptions configure the sessions side by side.
type PaneOptions struct {
	Layout split.Layout // that the user left; RunDashboard without a session shows it
	Hidden bool         // the user left the dashboard: esc shows the layout

	// Save keeps the layout for the next start. It is called after changes, outside of the event
	// loop, and when the program ends. A layout without sessions removes the former one. It may be
	// nil.
	Save func(l split.Layout, hidden bool) error
}

// open puts a session on the screen: it gets the focus, in place of the session with the focus
// unless it is in the layout.
func (p *program) open(id string) tea.Cmd {
	p.panes.layout = p.panes.layout.Open(id)
	return tea.Batch(p.renderClock.open(), p.showPanes())
}

// showPanes puts the sessions of the layout on the screen, each with its size. The layout must have
// a session.
func (p *program) showPanes() tea.Cmd {
	s := &p.panes
	s.arrange(p.sessions, p.width, p.height)
	shown, before := p.sessions.shown, p.sessions.onScreen()
	ids := []string{s.layout.Focus()}
	for _, pane := range s.screen.Panes {
		if pane.Session != ids[0] {
			ids = append(ids, pane.Session)
		}
	}
	spare := slices.Concat(s.layout.Sessions(), p.navigation.layout.Sessions())
	p.sessions.show(ids, p.stopPreview(ids), spare)
	var cmds []tea.Cmd
	for _, pane := range s.screen.Panes {
		o := p.sessions.find(pane.Session)
		o.view.SetElsewhere(pane.Session != s.layout.Focus())
		o.view.SetBeside(pane.Area.Width < p.width)
		size := tea.WindowSizeMsg{Width: max(pane.Content.Width, 1), Height: max(pane.Content.Height, 1)}
		if o.size != size || !slices.Contains(before, o) {
			o.size = size
			cmds = append(cmds, p.updateSession(o, size))
		}
	}
	if shown != nil && shown != p.sessions.shown && s.layout.Len() > 1 {
		cmds = append(cmds, p.updateShown(sessionview.FocusMsg{}))
	}
	if p.dashboard != nil {
		p.dashboard.SetCovered(true)
		p.dashboard.Select(s.layout.Focus())
		p.updateOthers()
		cmds = append(cmds, p.saveRead())
	}
	return tea.Batch(cmds...)
}

// arrange divides the screen. A deleted session that has no place on it leaves the layout.
func (s *panes) arrange(open *openSessions, width, height int) {
	s.screen = s.layout.Arrange(width, height)
	s.layout = s.layout.Keep(func(id string) bool {
		o := open.find(id)
		return o == nil || !o.deleted ||
			slices.ContainsFunc(s.screen.Panes, func(p split.Pane) bool { return p.Session == id })
	})
	s.screen = s.layout.Arrange(width, height)
}

// stopPreview ends the preview of the dashboard if sessions will be subscribed. It returns a
// channel that is closed when it has ended, or nil.
func (p *program) stopPreview(sessions []string) <-chan struct{} {
	subscribed := func(id string) bool {
		o := p.sessions.find(id)
		return o != nil && !o.detached
	}
	if p.dashboard == nil || !slices.ContainsFunc(sessions, func(id string) bool { return !subscribed(id) }) {
		return nil
	}
	return p.dashboard.StopPreview()
}

// actsOnPanes reports whether an action applies now: all but a split need several sessions.
func (s *panes) actsOnPanes(a keymap.Action) bool {
	return a.OnPanes() && (a.Splits() || s.layout.Len() > 1)
}

// actOnPanes carries out an action on the sessions side by side.
func (p *program) actOnPanes(action keymap.Action) tea.Cmd {
	l := p.panes.layout
	width, height := p.width, p.height
	switch {
	case p.sessions.shown == nil:
		return nil
	case action.Splits():
		return p.chooseSplit(action)
	case l.Len() < 2:
		p.sessions.shown.view.ShowStatus("there is one session" +
			ui.Prefixed(keymap.Separator, p.styles.Keys.Hint(keymap.SplitRight, "shows another beside it")))
		return nil
	}
	switch action {
	case keymap.PaneLeft:
		l = l.Move(split.Left, width, height)
	case keymap.PaneRight:
		l = l.Move(split.Right, width, height)
	case keymap.PaneUp:
		l = l.Move(split.Up, width, height)
	case keymap.PaneDown:
		l = l.Move(split.Down, width, height)
	case keymap.NextPane:
		l = l.Next()
	case keymap.ZoomPane:
		l = l.ToggleZoom()
	case keymap.WiderPane:
		l = l.Grow(false, widthStep, width, height)
	case keymap.NarrowerPane:
		l = l.Grow(false, -widthStep, width, height)
	case keymap.TallerPane:
		l = l.Grow(true, heightStep, width, height)
	case keymap.ShorterPane:
		l = l.Grow(true, -heightStep, width, height)
	case keymap.ClosePane:
		l = l.Remove(l.Focus())
	}
	p.panes.layout = l
	return p.showPanes()
}

// chooseSplit asks which session to show beside the one with the focus.
func (p *program) chooseSplit(action keymap.Action) tea.Cmd {
	if reason := p.refuseSplit(action); reason != "" {
		p.sessions.shown.view.ShowStatus(reason)
		return nil
	}
	p.navigation = pendingNavigation{}
	p.showDashboard()
	p.dashboard.OpenSplit(action)
	return p.updateDashboard(nil)
}

// refuseSplit returns why no further session can be shown, or "".
func (p *program) refuseSplit(action keymap.Action) string {
	const other = "\x00" // is no session
	l := p.panes.layout
	switch {
	case l.Len() == split.MaxPanes:
		return fmt.Sprintf("at most %d sessions are side by side", split.MaxPanes)
	case l.Len() > 0 && !l.Split(other, action == keymap.SplitBelow).Arrange(p.width, p.height).Fits:
		return fmt.Sprintf("no room: each session needs %d×%d cells", split.MinWidth, split.MinHeight)
	}
	return ""
}

// showSplit shows a session beside the one with the focus.
func (p *program) showSplit(i dashboard.SplitIntent) tea.Cmd {
	if reason := p.refuseSplit(i.Action); reason != "" && !p.panes.layout.Has(i.Session) {
		p.dashboard.ShowStatus(reason)
		return nil
	}
	p.navigation = pendingNavigation{}
	p.panes.layout = p.panes.layout.Split(i.Session, i.Action == keymap.SplitBelow)
	return p.showPanes()
}

// showBack returns from the dashboard to the sessions that were shown last, if there are any.
func (p *program) showBack() tea.Cmd {
	switch {
	case p.panes.layout.Len() > 0:
		return p.showPanes()
	case len(p.sessions.all) > 0:
		return p.open(p.sessions.all[0].id)
	}
	return nil
}

// removeDeleted handles that the server deleted a session. It stays on the screen until it is
// hidden.
func (p *program) removeDeleted(id string) {
	p.sessions.handleDeleted(id)
	if o := p.sessions.find(id); o == nil {
		p.panes.layout = p.panes.layout.Remove(id)
	}
	p.navigation.layout = p.navigation.layout.Remove(id)
}

// hidePanes removes all sessions from the screen, and deleted ones from the layout.
func (p *program) hidePanes() {
	for _, o := range p.sessions.onScreen() {
		if o.deleted {
			p.panes.layout = p.panes.layout.Remove(o.id)
		}
	}
	p.panes.dragged = nil
	p.sessions.hide()
}

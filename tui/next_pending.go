package tui

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/split"
)

// pendingNavigation is the state of a walk through the sessions that need the user. The walk ends
// where it began.
type pendingNavigation struct {
	origin   string       // session with the focus at the start; "": the dashboard
	layout   split.Layout // of the sessions at the start
	selected string       // session selected on the dashboard at the start
	visited  map[string]bool
}

// showNextPending shows the next session that needs the user. After the last one it returns to the
// screen on which the walk began.
func (p *program) showNextPending() tea.Cmd {
	p.requestWatch()
	current := ""
	if p.sessions.shown != nil {
		current = p.sessions.shown.id
	}
	if p.navigation.visited == nil {
		p.navigation = pendingNavigation{
			origin: current, layout: p.panes.layout, selected: p.dashboard.Selected(), visited: map[string]bool{},
		}
	}
	p.navigation.visited[current] = true
	id, ok := p.dashboard.List().NextNeed(func(id string) bool {
		return p.navigation.visited[id] || !p.dashboard.Reachable(id)
	})
	if ok {
		return p.open(id)
	}
	start := p.navigation
	p.navigation = pendingNavigation{}
	const done = "no other session needs you"
	p.panes.layout = start.layout
	if start.origin != "" && start.layout.Len() > 0 {
		cmd := p.showPanes()
		p.sessions.shown.view.ShowStatus(done)
		return cmd
	}
	p.showDashboard()
	p.dashboard.Select(start.selected)
	p.dashboard.ShowStatus(done)
	return nil
}

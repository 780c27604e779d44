package tui

import (
	"agentctl/tui/sessionlist"
	"agentctl/tui/split"
)

// place is what is on the screen.
type place struct {
	session  string       // with the focus; "": the dashboard
	layout   split.Layout // of the sessions
	selected string       // on the dashboard
}

// pendingNavigation is a walk through the sessions that need the user. It ends where it began. The
// zero value has not begun.
type pendingNavigation struct {
	start   place
	visited map[string]bool // nil: it has not begun
	last    bool            // it ends with the next step
}

// next returns the next session of the list that needs the user other than with a request, which the
// dashboard shows, and is reachable. After the last one it ends the walk and returns "" and the place
// where it began.
func (n *pendingNavigation) next(
	now place, list *sessionlist.List, reachable func(session string) bool,
) (session string, start place) {
	if n.visited == nil {
		n.start, n.visited = now, map[string]bool{}
	}
	n.visited[now.session] = true
	for id, need := range list.Needs() {
		if !n.last && need != sessionlist.ApprovalPending && !n.visited[id] && reachable(id) {
			return id, place{}
		}
	}
	start = n.start
	n.end()
	return "", start
}

// end ends the walk where it is.
func (n *pendingNavigation) end() { *n = pendingNavigation{} }

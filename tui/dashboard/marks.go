package dashboard

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/ui"
)

// marks are the sessions that the user has marked for an action on several, and those whose
// requests are still to be shown in turn.
type marks struct {
	sessions map[string]bool
	pending  []string // sessions to decide, after the one that is shown
	written  written  // for an action on sessions
}

// toggle marks a session or unmarks it.
func (m *marks) toggle(session string) {
	if m.sessions[session] {
		delete(m.sessions, session)
		return
	}
	m.sessions[session] = true
}

// markShown marks all sessions that the filter shows. If all are marked, it removes every mark.
func (d *Dashboard) markShown() {
	added := false
	for i := range d.list.Len() {
		s := d.list.At(i)
		added = added || !d.marks.sessions[s.Session]
		d.marks.sessions[s.Session] = true
	}
	if !added {
		clear(d.marks.sessions)
	}
}

// targets returns the marked sessions in the order of the list, those that the filter hides last.
// If none is marked, it returns the selected session.
func (d *Dashboard) targets() []protocol.Summary {
	if len(d.marks.sessions) == 0 {
		if s, ok := d.current(); ok {
			return []protocol.Summary{s}
		}
		return nil
	}
	var out, hidden []protocol.Summary
	for i := range d.list.Len() {
		if s := d.list.At(i); d.marks.sessions[s.Session] {
			out = append(out, s)
		}
	}
	for session := range d.marks.sessions {
		if s, ok := d.list.Get(session); ok && d.list.Index(session) < 0 {
			hidden = append(hidden, s)
		}
	}
	return append(out, hidden...)
}

// decideMarked shows the requests of the marked sessions, one after the other. Each is decided in
// its own dialog with its own guard. Sessions with several requests keep their marks.
func (d *Dashboard) decideMarked() (tea.Cmd, ui.Intent) {
	several, lost := 0, 0
	d.marks.pending = nil
	for _, s := range d.targets() {
		switch {
		case s.Status != protocol.Waiting:
		case !d.Reachable(s.Session):
			lost++
		case s.Approvals > 1:
			several++
		default:
			d.marks.pending = append(d.marks.pending, s.Session)
		}
	}
	switch {
	case len(d.marks.pending) > 0:
	case several > 0:
		d.status.Text = format.Count(several, "marked session") + " with several requests: open each to decide them"
	case lost > 0:
		d.status.Text = format.Count(lost, "marked session") + " of servers that are not connected"
	default:
		d.status.Text = "no marked session has a request"
	}
	return d.decideNext()
}

// decideNext shows the next request of decideMarked, if no overlay is open.
func (d *Dashboard) decideNext() (tea.Cmd, ui.Intent) {
	for len(d.marks.pending) > 0 && d.overlays.Top() == nil {
		session := d.marks.pending[0]
		d.marks.pending = d.marks.pending[1:]
		s, ok := d.list.Get(session)
		if !ok || s.Status != protocol.Waiting || s.Approvals != 1 || !d.Reachable(session) {
			continue
		}
		d.Select(session)
		delete(d.marks.sessions, session)
		return d.openApproval(&s)
	}
	return nil, nil
}

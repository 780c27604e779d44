package tui

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"agentctl/tui/remote"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
)

// editGrace is how long an edit hold outlives the connection of who edits.
const editGrace = 30 * time.Second

// editors is who left while they edited a queued message, and through which
// connection our own edit is held.
type editors struct {
	left map[protocol.Actor]time.Time
	conn string
}

// gone notes that somebody's connection ended, when a hold hangs on it.
func (e *editors) gone(by protocol.Actor, s *protocol.State, now time.Time) {
	maps.DeleteFunc(e.left, func(who protocol.Actor, _ time.Time) bool { return !edits(s, who) })
	if edits(s, by) {
		e.left[by] = now
	}
}

// edits tells that somebody holds a message to edit it.
func edits(s *protocol.State, who protocol.Actor) bool {
	return slices.ContainsFunc(s.Holds, func(h protocol.Hold) bool {
		return h.Reason == protocol.HoldEdit && h.By != nil && *h.By == who
	})
}

// holdLasts is how long the edit hold of somebody who left lasts, or 0 when they
// are there or it is not known.
func (m *model) holdLasts(h *protocol.Hold) time.Duration {
	if h.By == nil {
		return 0
	}
	left, gone := m.editors.left[*h.By]
	if !gone {
		return 0
	}
	for id, c := range m.clients {
		if c.By == *h.By && (id != m.link.Connection || m.link.State == remote.Connected) {
			return 0
		}
	}
	return max(0, left.Add(editGrace).Sub(m.now()))
}

// holdAgain moves the hold of an edit to a new connection, for that of the old one
// runs out.
func (m *model) holdAgain() tea.Cmd {
	message := m.composer.editing
	if message == "" || m.link.State != remote.Connected || m.link.Connection == m.editors.conn {
		return nil
	}
	m.editors.conn = m.link.Connection
	return m.do(protocol.DoQueueHold, protocol.QueueHoldData{MessageID: message}, nil, m.tell)
}

// editing says that a queued message is edited and, while there is no connection,
// how long it is held for that.
func (m *model) editing() string {
	h := editHold(m.state, m.composer.editing)
	if h == nil || m.link.State == remote.Connected {
		return "editing a queued message"
	}
	if left := m.holdLasts(h); left > 0 {
		return fmt.Sprintf("editing · held for %ds more", seconds(left))
	}
	return "editing · not held any more"
}

// ticks tells that a clock is on the screen.
func (m *model) ticks() bool {
	if m.state.Turn != nil || m.link.State == remote.Reconnecting {
		return true
	}
	for i := range m.state.Holds {
		if m.holdLasts(&m.state.Holds[i]) > 0 {
			return true
		}
	}
	return slices.ContainsFunc(m.state.Approvals, func(a protocol.Approval) bool { return a.Expires != nil })
}

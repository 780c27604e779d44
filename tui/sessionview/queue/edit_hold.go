package queue

import (
	"fmt"
	"maps"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
)

// editGrace is how long the server keeps an edit hold after its actor disconnected.
const editGrace = 30 * time.Second

// recordDisconnect records the time at which an actor with an edit hold disconnected.
func (q *Panel) recordDisconnect(by protocol.Actor) {
	s, since := q.Replica.State, q.disconnects
	maps.DeleteFunc(since, func(actor protocol.Actor, _ time.Time) bool { return !holdsForEdit(s, actor) })
	if holdsForEdit(s, by) {
		since[by] = q.Now()
	}
}

// holdsForEdit reports whether an actor holds a message to edit it.
func holdsForEdit(s *protocol.State, actor protocol.Actor) bool {
	return slices.ContainsFunc(s.Holds, func(h protocol.Hold) bool {
		return h.Reason == protocol.HoldEdit && h.By != nil && *h.By == actor
	})
}

// remaining returns how long the edit hold of a disconnected actor lasts. It returns 0 if the actor
// is connected or the time is unknown.
func (q *Panel) remaining(h *protocol.Hold) time.Duration {
	if h.By == nil {
		return 0
	}
	since, disconnected := q.disconnects[*h.By]
	if !disconnected {
		return 0
	}
	for id, c := range q.Replica.Clients {
		if c.By == *h.By && (id != q.Replica.Conn.Connection || q.Replica.Connected()) {
			return 0
		}
	}
	return max(0, since.Add(editGrace).Sub(q.Now()))
}

// CountsDown reports whether the hold of a disconnected actor is counting down.
func (q *Panel) CountsDown() bool {
	return slices.ContainsFunc(q.Replica.State.Holds, func(h protocol.Hold) bool { return q.remaining(&h) > 0 })
}

// BeginEdit holds a message, so that the server does not start it during its edit. The hold belongs
// to the current connection.
func (q *Panel) BeginEdit(message string) tea.Cmd {
	q.holdConn = q.Replica.Conn.Connection
	return q.Commands.Do(protocol.DoQueueHold, protocol.QueueHoldData{MessageID: message})
}

// Updated holds the edited message again after a reconnect: the hold of the old connection
// expires.
func (q *Panel) Updated() tea.Cmd {
	message := q.Editing()
	if message == "" || !q.Replica.Connected() || q.Replica.Conn.Connection == q.holdConn {
		return nil
	}
	return q.BeginEdit(message)
}

// EndEdit releases the hold of this user on a message.
func (q *Panel) EndEdit(message string) tea.Cmd {
	h := describe.EditHold(q.Replica.State, message)
	if h == nil || h.By == nil || *h.By != q.Replica.Conn.By {
		return nil
	}
	return q.Commands.Do(protocol.DoQueueRelease, protocol.QueueReleaseData{Hold: h.ID})
}

// EditTitle returns the title of the composer during the edit of a message. While disconnected it
// includes the remaining time of the hold.
func (q *Panel) EditTitle() string {
	message := q.Editing()
	h := describe.EditHold(q.Replica.State, message)
	switch {
	case h != nil && !q.Replica.Connected():
	case isScheduled(q.Replica.State, message):
		return "editing a scheduled message"
	default:
		return "editing a queued message"
	}
	if left := q.remaining(h); left > 0 {
		return fmt.Sprintf("editing · held for %ds more", format.SecondsLeft(left))
	}
	return "editing · no longer held"
}

// Disconnected records that the connection was lost.
func (q *Panel) Disconnected() { q.recordDisconnect(q.Replica.Conn.By) }

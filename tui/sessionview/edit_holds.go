package sessionview

import (
	"maps"
	"slices"
	"time"

	"agentctl/protocol"
)

// editGrace is how long the server keeps an edit hold after its actor disconnected.
const editGrace = 30 * time.Second

// editHolds tracks the actors that disconnected while they edited a queued message, and the
// connection that holds the message edited here.
type editHolds struct {
	replica     *replica
	now         func() time.Time
	disconnects map[protocol.Actor]time.Time // time of the disconnect
	connection  string                       // connection of the hold on the message edited here
}

// recordDisconnect records the time at which an actor with an edit hold disconnected.
func (e *editHolds) recordDisconnect(by protocol.Actor) {
	s := e.replica.state
	maps.DeleteFunc(e.disconnects, func(actor protocol.Actor, _ time.Time) bool { return !holdsForEdit(s, actor) })
	if holdsForEdit(s, by) {
		e.disconnects[by] = e.now()
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
func (e *editHolds) remaining(h *protocol.Hold) time.Duration {
	if h.By == nil {
		return 0
	}
	since, disconnected := e.disconnects[*h.By]
	if !disconnected {
		return 0
	}
	for id, c := range e.replica.clients {
		if c.By == *h.By && (id != e.replica.conn.Connection || e.replica.connected()) {
			return 0
		}
	}
	return max(0, since.Add(editGrace).Sub(e.now()))
}

// countingDown reports whether the hold of a disconnected actor is counting down.
func (e *editHolds) countingDown() bool {
	holds := e.replica.state.Holds
	for i := range holds {
		if e.remaining(&holds[i]) > 0 {
			return true
		}
	}
	return false
}

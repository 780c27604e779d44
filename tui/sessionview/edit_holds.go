package sessionview

import (
	"maps"
	"slices"
	"time"

	"agentctl/protocol"
)

// editGrace is how long an edit hold outlives the connection of its actor.
const editGrace = 30 * time.Second

// editHolds knows which actors disconnected while they edited a queued message, and which connection
// holds the edit made here.
type editHolds struct {
	replica *replica
	now     func() time.Time
	left    map[protocol.Actor]time.Time // when they disconnected
	conn    string                       // that holds the edit made here
}

// disconnected notes the end of an actor's connection, if a hold depends on it.
func (e *editHolds) disconnected(by protocol.Actor) {
	s := e.replica.state
	maps.DeleteFunc(e.left, func(who protocol.Actor, _ time.Time) bool { return !edits(s, who) })
	if edits(s, by) {
		e.left[by] = e.now()
	}
}

// edits reports whether an actor holds a message to edit it.
func edits(s *protocol.State, who protocol.Actor) bool {
	return slices.ContainsFunc(s.Holds, func(h protocol.Hold) bool {
		return h.Reason == protocol.HoldEdit && h.By != nil && *h.By == who
	})
}

// expires returns how long the edit hold of an actor who left still lasts; 0 when the actor is connected
// or it is not known.
func (e *editHolds) expires(h *protocol.Hold) time.Duration {
	if h.By == nil {
		return 0
	}
	left, gone := e.left[*h.By]
	if !gone {
		return 0
	}
	for id, c := range e.replica.clients {
		if c.By == *h.By && (id != e.replica.conn.Connection || e.replica.connected()) {
			return 0
		}
	}
	return max(0, left.Add(editGrace).Sub(e.now()))
}

// counting reports whether the time of a hold is running out.
func (e *editHolds) counting() bool {
	holds := e.replica.state.Holds
	for i := range holds {
		if e.expires(&holds[i]) > 0 {
			return true
		}
	}
	return false
}

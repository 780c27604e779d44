package sessionview

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

// editHolds holds the queued message that is edited here. It also tracks the actors that
// disconnected during an edit of theirs.
type editHolds struct {
	replica     *replica
	commands    *commander
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

// hold holds a message. The hold belongs to the current connection.
func (e *editHolds) hold(message string) tea.Cmd {
	e.connection = e.replica.conn.Connection
	data := protocol.QueueHoldData{MessageID: message}
	return e.commands.send(protocol.DoQueueHold, data, nil, e.commands.report)
}

// renew holds a message again after a reconnect: the hold of the old connection expires.
func (e *editHolds) renew(message string) tea.Cmd {
	if message == "" || !e.replica.connected() || e.replica.conn.Connection == e.connection {
		return nil
	}
	return e.hold(message)
}

// release releases the hold of this user on a message.
func (e *editHolds) release(message string) tea.Cmd {
	h := describe.EditHold(e.replica.state, message)
	if h == nil || h.By == nil || *h.By != e.replica.conn.By {
		return nil
	}
	return e.commands.send(protocol.DoQueueRelease, protocol.QueueReleaseData{Hold: h.ID}, nil, e.commands.report)
}

// title returns the title of the composer during the edit of a message. While disconnected it
// includes the remaining time of the hold.
func (e *editHolds) title(message string) string {
	h := describe.EditHold(e.replica.state, message)
	switch {
	case h != nil && !e.replica.connected():
	case isScheduled(e.replica.state, message):
		return "editing a scheduled message"
	default:
		return "editing a queued message"
	}
	if left := e.remaining(h); left > 0 {
		return fmt.Sprintf("editing · held for %ds more", format.SecondsLeft(left))
	}
	return "editing · no longer held"
}

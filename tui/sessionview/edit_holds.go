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
	"agentctl/tui/request"
	"agentctl/tui/sessionview/replica"
)

// editGrace is how long the server keeps an edit hold after its actor disconnected.
const editGrace = 30 * time.Second

// editHolds holds the queued message that is edited here. It also tracks the actors that
// disconnected during an edit of theirs.
type editHolds struct {
	replica     *replica.Session
	commands    *request.Sender
	now         func() time.Time
	disconnects map[protocol.Actor]time.Time // time of the disconnect
	connection  string                       // connection of the hold on the message edited here
}

// recordDisconnect records the time at which an actor with an edit hold disconnected.
func (e *editHolds) recordDisconnect(by protocol.Actor) {
	s := e.replica.State
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
	for id, c := range e.replica.Clients {
		if c.By == *h.By && (id != e.replica.Conn.Connection || e.replica.Connected()) {
			return 0
		}
	}
	return max(0, since.Add(editGrace).Sub(e.now()))
}

// countingDown reports whether the hold of a disconnected actor is counting down.
func (e *editHolds) countingDown() bool {
	holds := e.replica.State.Holds
	for i := range holds {
		if e.remaining(&holds[i]) > 0 {
			return true
		}
	}
	return false
}

// hold holds a message. The hold belongs to the current connection.
func (e *editHolds) hold(message string) tea.Cmd {
	e.connection = e.replica.Conn.Connection
	data := protocol.QueueHoldData{MessageID: message}
	return e.commands.Do(protocol.DoQueueHold, data)
}

// renew holds a message again after a reconnect: the hold of the old connection expires.
func (e *editHolds) renew(message string) tea.Cmd {
	if message == "" || !e.replica.Connected() || e.replica.Conn.Connection == e.connection {
		return nil
	}
	return e.hold(message)
}

// release releases the hold of this user on a message.
func (e *editHolds) release(message string) tea.Cmd {
	h := describe.EditHold(e.replica.State, message)
	if h == nil || h.By == nil || *h.By != e.replica.Conn.By {
		return nil
	}
	return e.commands.Do(protocol.DoQueueRelease, protocol.QueueReleaseData{Hold: h.ID})
}

// title returns the title of the composer during the edit of a message. While disconnected it
// includes the remaining time of the hold.
func (e *editHolds) title(message string) string {
	h := describe.EditHold(e.replica.State, message)
	switch {
	case h != nil && !e.replica.Connected():
	case isScheduled(e.replica.State, message):
		return "editing a scheduled message"
	default:
		return "editing a queued message"
	}
	if left := e.remaining(h); left > 0 {
		return fmt.Sprintf("editing · held for %ds more", format.SecondsLeft(left))
	}
	return "editing · no longer held"
}

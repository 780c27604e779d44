package queue

import (
	"time"

	"agentctl/protocol"
	"agentctl/server/session/record"
)

// A Queue holds the facts of a session's queue that are not in the state. The zero value belongs to
// an empty queue. It is owned by one goroutine.
type Queue struct {
	edits map[string]edit // by id of the hold
	first map[string]bool // messages placed before those that start turns; true: the agent refused it
}

// A Caller is where an operation comes from, and the limits that hold for it.
type Caller struct {
	By          protocol.Actor
	Conn        string    // id of the connection
	Gone        bool      // the connection is not subscribed to the session: its edit holds time out
	Now         time.Time // of the operation
	HoldID      string    // of a hold that the operation makes
	EditTime    time.Duration
	CannotSteer string // why the current turn takes no message; empty: it may
	Limits      Limits
}

// A Change is the outcome of an operation: the events to record, in order, and its result. Another
// message may be next afterwards.
type Change struct {
	Events []record.Event
	Result any
}

// StartsNow reports whether a new message, at the end of the queue or in front of it, starts a turn.
// Edit holds do not matter: they are about other messages.
func StartsNow(st *protocol.State, front bool) bool {
	return st.Turn == nil && (front || len(st.Queue) == 0) && wholeHold(st) == nil
}

// Next returns the message whose turn starts, and the event that takes it out of the queue. ok is
// false if no message waits, a turn runs or the queue is held.
func Next(st *protocol.State) (m protocol.Message, e record.Event, ok bool) {
	next := st.NextQueued()
	if next == nil {
		return m, e, false
	}
	m = *next
	m.Delivery = ""
	return m, removed(m.MessageID, protocol.RemovedStarted, nil), true
}

// Add puts a message that Sanitize and Limits.Check have accepted at the end of the queue, or in front of it,
// and returns its index.
func Add(st *protocol.State, m protocol.Message, front bool, now time.Time) (e record.Event, index int) {
	if front {
		return Added(m, new(int), now), 0
	}
	return Added(m, nil, now), len(st.Queue)
}

// Added returns the event that puts a message into the queue, at an index; nil: at its end.
func Added(m protocol.Message, index *int, now time.Time) record.Event {
	at := record.Time(now)
	m.QueuedAt = &at
	return record.Event{Type: protocol.QueueAdded, By: m.By, Data: protocol.QueueAddedData{Message: m, Index: index}}
}

// EndTurn keeps, clears or holds the queue when a turn ends. choice is empty, protocol.QueueKeep,
// protocol.QueueClear or the reason of a hold, for which an empty queue has no need.
func EndTurn(st *protocol.State, choice, hold string, by *protocol.Actor) []record.Event {
	var events []record.Event
	switch choice {
	case "", protocol.QueueKeep:
	case protocol.QueueClear:
		for i := range st.Queue {
			events = append(events, removed(st.Queue[i].MessageID, protocol.RemovedCleared, by))
		}
	default:
		if len(st.Queue) > 0 {
			events = append(events, Held(protocol.Hold{ID: hold, Reason: choice, By: by}))
		}
	}
	return events
}

func removed(message, reason string, by *protocol.Actor) record.Event {
	d := protocol.QueueRemovedData{MessageID: message, Reason: reason}
	return record.Event{Type: protocol.QueueRemoved, By: by, Data: d}
}

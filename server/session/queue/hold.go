package queue

import (
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/server/session/record"
)

// An edit is the connection behind an edit hold.
type edit struct {
	conn  string    // empty: unknown
	until time.Time // end of the hold; zero while the connection lives
}

// Hold holds the queue, or one message while its caller edits it. A second edit hold of the same
// actor moves the first to the new connection.
func (q *Queue) Hold(st *protocol.State, c Caller, d *protocol.QueueHoldData) (Change, error) {
	if n := c.Limits.Messages; len(st.Holds) >= n {
		return Change{}, protocol.Exceeded(protocol.CodeTooMany, n, "the queue has too many holds: release them")
	}
	h := protocol.Hold{ID: c.HoldID, Reason: protocol.HoldUser, By: &c.By}
	if d.MessageID == "" {
		return Change{[]record.Event{Held(h)}, protocol.QueueHoldResult{Hold: h.ID}}, nil
	}
	if _, err := find(st, &c.By, d.MessageID); err != nil {
		return Change{}, err
	}
	var events []record.Event
	if present := editHold(st, d.MessageID); present != nil {
		h = *present
	} else {
		h.Reason, h.MessageID = protocol.HoldEdit, d.MessageID
		events = append(events, Held(h))
	}
	e := edit{conn: c.Conn}
	if c.Gone {
		e.until = c.Now.Add(c.EditTime)
	}
	q.setEdit(h.ID, e)
	return Change{events, protocol.QueueHoldResult{Hold: h.ID}}, nil
}

// Release releases the named hold; with no name, all holds except edit holds of other actors.
func (q *Queue) Release(st *protocol.State, c Caller, d *protocol.QueueReleaseData) (Change, error) {
	ids := []string{}
	for _, h := range st.Holds {
		if d.Hold == h.ID || d.Hold == "" && (h.Reason != protocol.HoldEdit || sameActor(h.By, &c.By)) {
			ids = append(ids, h.ID)
		}
	}
	if d.Hold != "" && len(ids) == 0 {
		return Change{}, protocol.Errorf(protocol.CodeNotFound, "there is no hold %.80q", d.Hold)
	}
	change := Change{Result: protocol.QueueReleaseResult{Released: ids}}
	if len(ids) > 0 {
		change.Events = []record.Event{q.released(&c.By, ids...)}
	}
	return change, nil
}

// Held returns the event of a hold.
func Held(h protocol.Hold) record.Event {
	return record.Event{Type: protocol.QueueHeld, By: h.By, Data: h}
}

// released returns the event of a release and forgets the edit holds.
func (q *Queue) released(by *protocol.Actor, holds ...string) record.Event {
	for _, id := range holds {
		delete(q.edits, id)
	}
	return Released(by, holds...)
}

// Released returns the event of the release of holds.
func Released(by *protocol.Actor, holds ...string) record.Event {
	return record.Event{Type: protocol.QueueReleased, By: by, Data: protocol.QueueReleasedData{Holds: holds}}
}

// editHold returns the edit hold on a message, or nil.
func editHold(st *protocol.State, message string) *protocol.Hold {
	for i := range st.Holds {
		if h := &st.Holds[i]; h.Reason == protocol.HoldEdit && h.MessageID == message {
			return h
		}
	}
	return nil
}

func (q *Queue) setEdit(hold string, e edit) {
	if q.edits == nil {
		q.edits = map[string]edit{}
	}
	q.edits[hold] = e
}

// Disconnected starts the timeout of the edit holds of a closed connection.
func (q *Queue) Disconnected(conn string, until time.Time) {
	for id, e := range q.edits {
		if e.conn == conn && e.until.IsZero() {
			q.edits[id] = edit{conn, until}
		}
	}
}

// Edits reports whether a connection has an edit hold.
func (q *Queue) Edits(conn string) bool {
	for _, e := range q.edits {
		if e.conn == conn {
			return true
		}
	}
	return false
}

// Empty reports whether no edit hold is known.
func (q *Queue) Empty() bool { return len(q.edits) == 0 }

// Knows reports whether an edit hold ends with its connection, or times out.
func (q *Queue) Knows(hold string) bool {
	_, ok := q.edits[hold]
	return ok
}

// Adopt starts the timeout of edit holds without a known connection: holds from before a restart,
// and holds whose release was not committed.
func (q *Queue) Adopt(st *protocol.State, until time.Time) {
	for _, h := range st.Holds {
		if _, known := q.edits[h.ID]; h.Reason == protocol.HoldEdit && !known && !st.Closed {
			q.setEdit(h.ID, edit{until: until})
		}
	}
}

// Expire releases the edit holds whose timeout has passed, and forgets holds that were removed with
// their message.
func (q *Queue) Expire(st *protocol.State, now time.Time) []record.Event {
	var ids []string
	for id, e := range q.edits {
		switch {
		case !slices.ContainsFunc(st.Holds, func(h protocol.Hold) bool { return h.ID == id }):
			delete(q.edits, id)
		case e.until.IsZero():
		case !now.Before(e.until):
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	return []record.Event{q.released(nil, ids...)}
}

// Close forgets all edit holds: the session is closed.
func (q *Queue) Close() { clear(q.edits) }

// Deadline returns the time of the next timeout of an edit hold; zero: no timeout.
func (q *Queue) Deadline() (next time.Time) {
	for _, e := range q.edits {
		if !e.until.IsZero() && (next.IsZero() || e.until.Before(next)) {
			next = e.until
		}
	}
	return next
}

package queue

import (
	"fmt"
	"time"

	"agentctl/protocol"
	"agentctl/server/session/record"
)

// AddFirst puts a message as Add takes it, with delivery steer, before the messages that start turns, behind
// earlier ones of its kind. The result has its status and index, and why it waits in the queue. cannot is
// why the current turn takes no message; empty: it may.
func (q *Queue) AddFirst(
	st *protocol.State, m protocol.Message, cannot string, now time.Time, limits Limits,
) (record.Event, protocol.SendResult) {
	r := q.result(st, m.MessageID, cannot, limits)
	m.Delivery = deliveryOf(&r)
	q.putFirst(m.MessageID, false)
	return Added(m, r.Index, now), r
}

// AddJoining puts a message as Add takes it behind those that are first: it joins the turn that the one
// before it starts.
func (q *Queue) AddJoining(st *protocol.State, m protocol.Message, now time.Time) record.Event {
	index := q.firstIndex(st, m.MessageID)
	m.Delivery = protocol.DeliverSteer
	q.putFirst(m.MessageID, false)
	return Added(m, &index, now)
}

// Steer gives a queued message the delivery steer, and moves it as AddFirst does. The current turn takes it
// unless c.CannotSteer says why not.
func (q *Queue) Steer(st *protocol.State, c Caller, d *protocol.QueueSteerData) (Change, error) {
	m, err := find(st, &c.By, d.MessageID)
	if err != nil {
		return Change{}, err
	}
	i := st.QueueIndex(d.MessageID)
	if i < 0 {
		return Change{}, protocol.Errorf(protocol.CodeConflict,
			"queue.steer: the message is scheduled, not in the queue yet")
	}
	r := q.result(st, d.MessageID, c.CannotSteer, c.Limits)
	q.putFirst(d.MessageID, false)
	moved := protocol.QueueMovedData{MessageID: d.MessageID, Index: *r.Index, Delivery: deliveryOf(&r)}
	if moved.Index == i && moved.Delivery == m.Delivery {
		return Change{Result: r}, nil
	}
	return Change{[]record.Event{{Type: protocol.QueueMoved, By: &c.By, Data: moved}}, r}, nil
}

// result returns the answer about a message that is to join the current turn.
func (q *Queue) result(st *protocol.State, message, cannot string, limits Limits) protocol.SendResult {
	index := q.firstIndex(st, message)
	r := protocol.SendResult{Status: protocol.SendQueued, MessageID: message, Index: &index, Reason: cannot}
	switch h := wholeHold(st); {
	case cannot != "" && st.Turn == nil && h != nil:
		r.Reason += ", and the queue is held: " + holder(h)
	case cannot != "":
	case len(st.Turn.Steered) >= limits.Messages:
		r.Reason = fmt.Sprintf("%d messages have joined this turn, the most that it takes", len(st.Turn.Steered))
	case h != nil:
		r.Reason, r.Turn = "the queue is held: "+holder(h), st.Turn.Turn
	default:
		r.Status, r.Turn = protocol.SendSteering, st.Turn.Turn
	}
	return r
}

// deliveryOf returns the delivery of the message of a result: a message that waits for the release of the
// queue joins the turn afterwards.
func deliveryOf(r *protocol.SendResult) protocol.Delivery {
	if r.Turn == "" {
		return ""
	}
	return protocol.DeliverSteer
}

// holder describes a hold.
func holder(h *protocol.Hold) string {
	if h.By == nil {
		return h.Reason
	}
	return h.Reason + " by " + h.By.Name
}

// wholeHold returns a hold of the whole queue, or nil.
func wholeHold(st *protocol.State) *protocol.Hold {
	for i := range st.Holds {
		if st.Holds[i].Reason != protocol.HoldEdit {
			return &st.Holds[i]
		}
	}
	return nil
}

// firstIndex returns the index of a message that is to be first, behind those that were before it.
func (q *Queue) firstIndex(st *protocol.State, message string) (index int) {
	for i := range st.Queue {
		m := &st.Queue[i]
		switch {
		case m.MessageID == message:
		case m.Delivery == protocol.DeliverSteer || q.wasFirst(m.MessageID):
			index++
		default:
			return index
		}
	}
	return index
}

// refusedIndex returns the index of a message that the agent refused: before messages that were sent later,
// behind those that were refused before it.
func (q *Queue) refusedIndex(st *protocol.State) (index int) {
	for index < len(st.Queue) && q.first[st.Queue[index].MessageID] {
		index++
	}
	return index
}

// putFirst notes a message that is placed before those that start turns.
func (q *Queue) putFirst(message string, refused bool) {
	if q.first == nil {
		q.first = map[string]bool{}
	}
	q.first[message] = refused
}

// wasFirst reports whether a message was placed before those that start turns.
func (q *Queue) wasFirst(message string) bool {
	_, ok := q.first[message]
	return ok
}

// forgetFirst forgets the messages that have left the queue, and are not sent to the agent either.
func (q *Queue) forgetFirst(st *protocol.State) {
	for id := range q.first {
		if st.QueueIndex(id) < 0 && !(st.Turn != nil && st.Turn.SteeredIndex(id) >= 0) {
			delete(q.first, id)
		}
	}
}

// Steerable reports whether a queued message may join the current turn now.
func Steerable(st *protocol.State) bool {
	if st.Turn == nil || wholeHold(st) != nil {
		return false
	}
	for i := range st.Queue {
		if steerable(st, &st.Queue[i]) {
			return true
		}
	}
	return false
}

// steerable reports whether a message waits to join the current turn, and is not edited.
func steerable(st *protocol.State, m *protocol.Message) bool {
	return m.Delivery == protocol.DeliverSteer && editHold(st, m.MessageID) == nil
}

// TakeSteered returns the messages that join the current turn now, in the order of the queue, and the
// events that record that they are sent to the agent. No event leaves a message in neither the queue nor the
// turn.
func (q *Queue) TakeSteered(st *protocol.State) (taken []protocol.Message, events []record.Event) {
	q.forgetFirst(st)
	if !Steerable(st) {
		return nil, nil
	}
	for _, m := range st.Queue {
		if !steerable(st, &m) {
			continue
		}
		m.Delivery = ""
		taken = append(taken, m)
		events = append(
			events,
			record.Event{Type: protocol.MessageSteered, By: m.By, Data: protocol.MessageSteeredData{Message: m}},
			removed(m.MessageID, protocol.RemovedSteered, nil),
		)
	}
	return taken, events
}

// ResolveSteered returns the events of the outcome of a message that was sent; a refused message is put
// first in the queue. It returns none for a message that was not sent, or has an outcome.
func (q *Queue) ResolveSteered(st *protocol.State, d protocol.MessageResolvedData) []record.Event {
	return q.resolveSteered(st, d, 0)
}

// resolveSteered is ResolveSteered after a number of other refused messages that the state does not have in
// the queue yet.
func (q *Queue) resolveSteered(st *protocol.State, d protocol.MessageResolvedData, refused int) []record.Event {
	for _, m := range st.Turn.Sent() {
		if m.MessageID != d.MessageID {
			continue
		}
		events := []record.Event{{Type: protocol.MessageResolved, Data: d}}
		if d.Outcome == protocol.SteerRefused {
			index := q.refusedIndex(st) + refused
			q.putFirst(m.MessageID, true)
			added := record.Event{
				Type: protocol.QueueAdded, By: m.By, Data: protocol.QueueAddedData{Message: m, Index: &index},
			}
			events = []record.Event{added, events[0]}
		}
		return events
	}
	return nil
}

// EndSteered returns the events that resolve the messages without an outcome when the turn ends: those
// that are not written to the agent yet are refused, what became of the others is unknown.
func (q *Queue) EndSteered(st *protocol.State, unwritten []protocol.Message) []record.Event {
	var events []record.Event
	refused := 0
	for _, m := range st.Turn.Sent() {
		d := protocol.MessageResolvedData{
			MessageID: m.MessageID, Outcome: protocol.SteerUnknown, Reason: "the turn ended before the agent answered",
		}
		for i := range unwritten {
			if unwritten[i].MessageID == m.MessageID {
				d.Outcome, d.Reason = protocol.SteerRefused, "the turn ended before it was sent"
			}
		}
		events = append(events, q.resolveSteered(st, d, refused)...)
		if d.Outcome == protocol.SteerRefused {
			refused++
		}
	}
	return events
}

package queue

import (
	"cmp"

	"agentctl/protocol"
	"agentctl/server/session/record"
)

// find returns the queued or scheduled message that a command names. A message that another actor
// edits is refused with conflict, any other id with not_found.
func find(st *protocol.State, by *protocol.Actor, id string) (*protocol.Message, error) {
	list, i := st.Queue, st.QueueIndex(id)
	if i < 0 {
		list, i = st.Scheduled, st.ScheduledIndex(id)
	}
	if i < 0 {
		return nil, protocol.Errorf(protocol.CodeNotFound,
			"message %.80q is not queued: it was sent to the agent, or removed", id)
	}
	if h := editHold(st, id); h != nil && !sameActor(h.By, by) {
		return nil, protocol.Errorf(protocol.CodeConflict, "%s is editing this message", h.By.Name)
	}
	return &list[i], nil
}

func sameActor(a, b *protocol.Actor) bool { return a != nil && b != nil && *a == *b }

// Edit replaces the content of a queued message and releases the caller's edit hold on it.
func (q *Queue) Edit(st *protocol.State, c Caller, d *protocol.QueueEditData) (Change, error) {
	m, err := find(st, &c.By, d.MessageID)
	if err != nil {
		return Change{}, err
	}
	if d.Text == "" && len(d.Parts) == 0 {
		return Change{}, protocol.Errorf(protocol.CodeInvalidMessage,
			"queue.edit: text: missing; remove the message instead")
	}
	edited := *m
	edited.Text, edited.Parts = d.Text, d.Parts
	if err := cmp.Or(Sanitize(&edited), c.Limits.Check(st, &edited)); err != nil {
		return Change{}, err
	}
	events := []record.Event{{Type: protocol.QueueUpdated, By: &c.By, Data: protocol.QueueUpdatedData{
		MessageID: d.MessageID, Text: edited.Text, Parts: edited.Parts,
	}}}
	if h := editHold(st, d.MessageID); h != nil {
		events = append(events, q.released(&c.By, h.ID))
	}
	return Change{events, protocol.Empty{}}, nil
}

// Remove removes a queued message together with its edit hold. A message that is not queued is not
// an error.
func (q *Queue) Remove(st *protocol.State, c Caller, d *protocol.QueueRemoveData) (Change, error) {
	if _, err := find(st, &c.By, d.MessageID); err != nil {
		if protocol.CodeOf(err) == protocol.CodeNotFound {
			return Change{Result: protocol.QueueRemoveResult{}}, nil
		}
		return Change{}, err
	}
	return Change{
		[]record.Event{removed(d.MessageID, protocol.RemovedUser, &c.By)}, protocol.QueueRemoveResult{Removed: true},
	}, nil
}

// Move moves a queued message to another index.
func (q *Queue) Move(st *protocol.State, c Caller, d *protocol.QueueMoveData) (Change, error) {
	if _, err := find(st, &c.By, d.MessageID); err != nil {
		return Change{}, err
	}
	if st.QueueIndex(d.MessageID) < 0 {
		return Change{}, protocol.Errorf(protocol.CodeConflict,
			"queue.move: the message is scheduled, not in the queue yet")
	}
	index := max(0, min(d.Index, len(st.Queue)-1))
	moved := protocol.QueueMovedData{MessageID: d.MessageID, Index: index}
	return Change{[]record.Event{{Type: protocol.QueueMoved, By: &c.By, Data: moved}}, protocol.Empty{}}, nil
}

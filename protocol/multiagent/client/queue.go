package client

import (
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A queue changes the queue of a session, which only the client end keeps: a server of the dialect
// would cancel its stream. Its methods return the events to record.
type queue struct {
	state *protocol.State
	by    *protocol.Actor
	newID func(prefix string) string
}

// queueOf returns the queue of a session, as the client of a connection changes it.
func queueOf(st *protocol.State, x *exchange) queue { return queue{st, x.User(), x.Options.ID} }

// apply carries out a command.
func (q queue) apply(cmd *protocol.Command) (events []codec.Entry, result any, err *protocol.Error) {
	switch cmd.Command {
	case protocol.DoQueueEdit:
		return applyQueueCommand(cmd, q.edit)
	case protocol.DoQueueRemove:
		return applyQueueCommand(cmd, q.remove)
	case protocol.DoQueueMove:
		return applyQueueCommand(cmd, q.move)
	case protocol.DoQueueHold:
		return applyQueueCommand(cmd, q.hold)
	case protocol.DoQueueRelease:
		return applyQueueCommand(cmd, q.release)
	}
	return nil, nil, nil
}

// applyQueueCommand decodes a command's data and calls do.
func applyQueueCommand[T any](
	cmd *protocol.Command, do func(*T) ([]codec.Entry, any, *protocol.Error),
) ([]codec.Entry, any, *protocol.Error) {
	d := new(T)
	if err := cmd.DecodeData(d); err != nil {
		return nil, nil, protocol.AsError(err)
	}
	return do(d)
}

func (q queue) event(typ protocol.Type, data any) codec.Entry {
	return codec.Entry{Type: typ, By: q.by, Data: data}
}

// check returns not_found if a message is not queued, or nil.
func (q queue) check(message string) *protocol.Error {
	if q.state.QueueIndex(message) >= 0 {
		return nil
	}
	return protocol.Errorf(protocol.CodeNotFound, "no message %.80q is queued", message)
}

// edit changes a message, and releases the holds for its edit.
func (q queue) edit(d *protocol.QueueEditData) ([]codec.Entry, any, *protocol.Error) {
	if err := q.check(d.MessageID); err != nil {
		return nil, nil, err
	}
	if len(d.Parts) > 0 || d.Text == "" {
		return nil, nil, Responder.Unsupported(textOnly)
	}
	events := []codec.Entry{
		q.event(protocol.QueueUpdated, protocol.QueueUpdatedData{MessageID: d.MessageID, Text: d.Text}),
	}
	var edits []string
	for _, h := range q.state.Holds {
		if h.Reason == protocol.HoldEdit && h.MessageID == d.MessageID {
			edits = append(edits, h.ID)
		}
	}
	return append(events, q.releaseHolds(edits)...), protocol.Empty{}, nil
}

func (q queue) remove(d *protocol.QueueRemoveData) ([]codec.Entry, any, *protocol.Error) {
	if q.check(d.MessageID) != nil {
		return nil, protocol.QueueRemoveResult{}, nil
	}
	removed := protocol.QueueRemovedData{MessageID: d.MessageID, Reason: protocol.RemovedUser}
	return []codec.Entry{q.event(protocol.QueueRemoved, removed)}, protocol.QueueRemoveResult{Removed: true}, nil
}

func (q queue) move(d *protocol.QueueMoveData) ([]codec.Entry, any, *protocol.Error) {
	if err := q.check(d.MessageID); err != nil {
		return nil, nil, err
	}
	last := len(q.state.Queue) - 1
	moved := protocol.QueueMovedData{MessageID: d.MessageID, Index: max(0, min(d.Index, last))}
	return []codec.Entry{q.event(protocol.QueueMoved, moved)}, protocol.Empty{}, nil
}

func (q queue) hold(d *protocol.QueueHoldData) ([]codec.Entry, any, *protocol.Error) {
	h := protocol.Hold{ID: q.newID("h"), Reason: protocol.HoldUser, MessageID: d.MessageID, By: q.by}
	if d.MessageID != "" {
		if err := q.check(d.MessageID); err != nil {
			return nil, nil, err
		}
		h.Reason = protocol.HoldEdit
	}
	if len(q.state.Holds) >= maxRequests {
		return nil, nil, protocol.Errorf(protocol.CodeTooMany, "too many holds")
	}
	return []codec.Entry{q.event(protocol.QueueHeld, h)}, protocol.QueueHoldResult{Hold: h.ID}, nil
}

func (q queue) release(d *protocol.QueueReleaseData) ([]codec.Entry, any, *protocol.Error) {
	released := []string{}
	for _, h := range q.state.Holds {
		if d.Hold == "" || h.ID == d.Hold {
			released = append(released, h.ID)
		}
	}
	return q.releaseHolds(released), protocol.QueueReleaseResult{Released: released}, nil
}

func (q queue) releaseHolds(holds []string) []codec.Entry {
	if len(holds) == 0 {
		return nil
	}
	return []codec.Entry{
		q.event(protocol.QueueReleased, protocol.QueueReleasedData{Holds: slices.Clone(holds)}),
	}
}

// afterInterrupt keeps, holds or clears the queue.
func (q queue) afterInterrupt(mode string) (events []codec.Entry) {
	switch mode {
	case protocol.QueueHold:
		return q.holdAll(protocol.HoldInterrupt)
	case protocol.QueueClear:
		for _, m := range q.state.Queue {
			cleared := protocol.QueueRemovedData{MessageID: m.MessageID, Reason: protocol.RemovedCleared}
			events = append(events, q.event(protocol.QueueRemoved, cleared))
		}
	}
	return events
}

// holdAll holds the queue unless it is empty.
func (q queue) holdAll(reason string) []codec.Entry {
	if len(q.state.Queue) == 0 {
		return nil
	}
	return []codec.Entry{
		q.event(protocol.QueueHeld, protocol.Hold{ID: q.newID("h"), Reason: reason, By: q.by}),
	}
}

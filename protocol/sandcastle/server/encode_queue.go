package server

import (
	"agentctl/protocol"
	"agentctl/protocol/sandcastle/wire"
)

// queueIndex returns the queue index of an event's message, or -1.
func queueIndex(s *protocol.State, e *protocol.Event) int {
	switch e.Type {
	case protocol.QueueUpdated, protocol.QueueMoved, protocol.QueueRemoved:
		var d struct {
			MessageID string `json:"message_id"`
		}
		if e.Decode(&d) == nil {
			return s.QueueIndex(d.MessageID)
		}
	}
	return -1
}

// encodeQueue encodes a queue event. before is the queue's previous length, at the message's
// previous index. The protocol can only append to the queue: a changed message and all after it are
// removed and added again.
func (sub *subscription) encodeQueue(e *protocol.Event, at, before int) {
	queue := sub.State.Queue
	switch e.Type {
	case protocol.QueueAdded:
		var d protocol.QueueAddedData
		_ = e.Decode(&d)
		i := before
		if d.Index != nil {
			i = max(0, min(*d.Index, before))
		}
		sub.sendEvent(wire.SessionEvent{Tag: wire.MessageQueued, Message: wire.NewQueuedMessage(&queue[i])})
		sub.requeue(i + 1)
	case protocol.QueueUpdated:
		if at >= 0 {
			sub.requeue(at)
		}
	case protocol.QueueMoved:
		var d protocol.QueueMovedData
		_ = e.Decode(&d)
		if at >= 0 {
			sub.requeue(max(0, min(at, d.Index, len(queue)-1)))
		}
	case protocol.QueueRemoved:
		var d protocol.QueueRemovedData
		_ = e.Decode(&d)
		if at >= 0 { // else it was scheduled
			sub.sendEvent(wire.SessionEvent{Tag: wire.MessageDequeued, MessageID: d.MessageID})
		}
	}
}

func (sub *subscription) requeue(from int) {
	for i := from; i < len(sub.State.Queue); i++ {
		m := wire.NewQueuedMessage(&sub.State.Queue[i])
		sub.sendEvent(wire.SessionEvent{Tag: wire.MessageDequeued, MessageID: m.ID})
		sub.sendEvent(wire.SessionEvent{Tag: wire.MessageQueued, Message: m})
	}
}

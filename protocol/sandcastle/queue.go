package sandcastle

import "agentctl/protocol"

// queueIndex is where in the queue the message is that an event is about; -1: nowhere.
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

// queue says what happened to the queue, which was before long and held the message at an index. Their queue knows no order but
// that of adding: what changed, and all after it, leaves and joins again.
func (v *view) queue(e *protocol.Event, at, before int) {
	queue := v.state.Queue
	switch e.Type {
	case protocol.QueueAdded:
		var d protocol.QueueAddedData
		_ = e.Decode(&d)
		i := before
		if d.Index != nil {
			i = max(0, min(*d.Index, before))
		}
		v.tell(sessionEvent{Tag: messageQueued, Message: queuedOf(&queue[i])})
		v.requeue(i + 1)
	case protocol.QueueUpdated:
		if at >= 0 {
			v.requeue(at)
		}
	case protocol.QueueMoved:
		var d protocol.QueueMovedData
		_ = e.Decode(&d)
		if at >= 0 {
			v.requeue(max(0, min(at, d.Index, len(queue)-1)))
		}
	case protocol.QueueRemoved:
		var d protocol.QueueRemovedData
		_ = e.Decode(&d)
		v.tell(sessionEvent{Tag: messageDequeued, MessageID: d.MessageID})
	}
}

func (v *view) requeue(from int) {
	for i := from; i < len(v.state.Queue); i++ {
		m := queuedOf(&v.state.Queue[i])
		v.tell(sessionEvent{Tag: messageDequeued, MessageID: m.ID})
		v.tell(sessionEvent{Tag: messageQueued, Message: m})
	}
}

package multiagent

import (
	"slices"

	"agentctl/protocol"
)

// arrange changes the queue, which is our end's own: a server of the dialect would cancel what it does.
func (c *Client) arrange(t *thread, cmd *protocol.Command) {
	var result any
	var err *protocol.Error
	switch cmd.Command {
	case protocol.DoQueueEdit:
		result, err = arranged(t, cmd, c.queueEdit)
	case protocol.DoQueueRemove:
		result, err = arranged(t, cmd, c.queueRemove)
	case protocol.DoQueueMove:
		result, err = arranged(t, cmd, c.queueMove)
	case protocol.DoQueueHold:
		result, err = arranged(t, cmd, c.queueHold)
	case protocol.DoQueueRelease:
		result, err = arranged(t, cmd, c.queueRelease)
	}
	if err != nil {
		c.fail(cmd, err)
		return
	}
	c.settle(cmd, result)
	c.proceed(t)
}

// arranged changes the queue by do, as the command's data says.
func arranged[T any](t *thread, cmd *protocol.Command, do func(*thread, *T) (any, *protocol.Error)) (any, *protocol.Error) {
	d := new(T)
	if err := cmd.DecodeData(d); err != nil {
		return nil, protocol.AsError(err)
	}
	return do(t, d)
}

// missing is the error about a message that is not queued; nil when it is.
func (t *thread) missing(message string) *protocol.Error {
	if t.log.State.QueueIndex(message) >= 0 {
		return nil
	}
	return protocol.Errorf(protocol.CodeNotFound, "no message %.80q is queued", message)
}

func (c *Client) queueEdit(t *thread, d *protocol.QueueEditData) (any, *protocol.Error) {
	if err := t.missing(d.MessageID); err != nil {
		return nil, err
	}
	if len(d.Parts) > 0 || d.Text == "" {
		return nil, protocol.Errorf(protocol.CodeUnsupported, "the dialect %s carries text alone", Name)
	}
	c.add(t, protocol.QueueUpdated, c.me(), protocol.QueueUpdatedData{MessageID: d.MessageID, Text: d.Text})
	var edits []string
	for _, h := range t.log.State.Holds {
		if h.Reason == protocol.HoldEdit && h.MessageID == d.MessageID {
			edits = append(edits, h.ID)
		}
	}
	c.release(t, edits)
	return protocol.Empty{}, nil
}

func (c *Client) queueRemove(t *thread, d *protocol.QueueRemoveData) (any, *protocol.Error) {
	if t.missing(d.MessageID) != nil {
		return protocol.QueueRemoveResult{}, nil
	}
	c.add(t, protocol.QueueRemoved, c.me(), protocol.QueueRemovedData{MessageID: d.MessageID, Reason: protocol.RemovedUser})
	return protocol.QueueRemoveResult{Removed: true}, nil
}

func (c *Client) queueMove(t *thread, d *protocol.QueueMoveData) (any, *protocol.Error) {
	if err := t.missing(d.MessageID); err != nil {
		return nil, err
	}
	last := len(t.log.State.Queue) - 1
	c.add(t, protocol.QueueMoved, c.me(), protocol.QueueMovedData{MessageID: d.MessageID, Index: max(0, min(d.Index, last))})
	return protocol.Empty{}, nil
}

func (c *Client) queueHold(t *thread, d *protocol.QueueHoldData) (any, *protocol.Error) {
	h := protocol.Hold{ID: c.call.ID("h"), Reason: protocol.HoldUser, MessageID: d.MessageID, By: c.me()}
	if d.MessageID != "" {
		if err := t.missing(d.MessageID); err != nil {
			return nil, err
		}
		h.Reason = protocol.HoldEdit
	}
	if len(t.log.State.Holds) >= maxWaits {
		return nil, protocol.Errorf(protocol.CodeTooMany, "too many holds")
	}
	c.add(t, protocol.QueueHeld, c.me(), h)
	return protocol.QueueHoldResult{Hold: h.ID}, nil
}

func (c *Client) queueRelease(t *thread, d *protocol.QueueReleaseData) (any, *protocol.Error) {
	gone := []string{}
	for _, h := range t.log.State.Holds {
		if d.Hold == "" || h.ID == d.Hold {
			gone = append(gone, h.ID)
		}
	}
	c.release(t, gone)
	return protocol.QueueReleaseResult{Released: gone}, nil
}

func (c *Client) release(t *thread, holds []string) {
	if len(holds) > 0 {
		c.add(t, protocol.QueueReleased, c.me(), protocol.QueueReleasedData{Holds: slices.Clone(holds)})
	}
}

// after does with the queue what an interrupt asked for.
func (c *Client) after(t *thread, what string) {
	queue := slices.Clone(t.log.State.Queue)
	switch {
	case len(queue) == 0:
	case what == protocol.QueueHold:
		c.hold(t, protocol.HoldInterrupt)
	case what == protocol.QueueClear:
		for _, m := range queue {
			c.add(t, protocol.QueueRemoved, c.me(), protocol.QueueRemovedData{MessageID: m.MessageID, Reason: protocol.RemovedCleared})
		}
	}
}

// hold holds the queue, if there is one.
func (c *Client) hold(t *thread, why string) {
	if len(t.log.State.Queue) > 0 {
		c.add(t, protocol.QueueHeld, c.me(), protocol.Hold{ID: c.call.ID("h"), Reason: why, By: c.me()})
	}
}

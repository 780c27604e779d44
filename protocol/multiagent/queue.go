package multiagent

import (
	"slices"

	"agentctl/protocol"
)

// arrange changes the queue, which is our end's own: a server of the dialect would cancel what it does.
func (c *Client) arrange(t *thread, cmd *protocol.Command) {
	state := t.log.State
	missing := func(id string) bool {
		if state.Queued(id) >= 0 {
			return false
		}
		c.fail(cmd, protocol.Errorf(protocol.CodeNotFound, "no message %.80q is queued", id))
		return true
	}
	switch cmd.Command {
	case protocol.DoQueueEdit:
		d, ok := data[protocol.QueueEditData](c, cmd)
		if !ok || missing(d.MessageID) {
			return
		}
		if len(d.Parts) > 0 || d.Text == "" {
			c.fail(cmd, protocol.Errorf(protocol.CodeUnsupported, "the dialect %s carries text alone", Name))
			return
		}
		c.add(t, protocol.QueueUpdated, c.me(), protocol.QueueUpdatedData{MessageID: d.MessageID, Text: d.Text})
		var edits []string
		for _, h := range state.Holds {
			if h.Reason == protocol.HoldEdit && h.MessageID == d.MessageID {
				edits = append(edits, h.ID)
			}
		}
		c.release(t, edits)
		c.settle(cmd, protocol.Empty{})
	case protocol.DoQueueRemove:
		d, ok := data[protocol.QueueRemoveData](c, cmd)
		if !ok {
			return
		}
		found := state.Queued(d.MessageID) >= 0
		if found {
			c.add(t, protocol.QueueRemoved, c.me(), protocol.QueueRemovedData{MessageID: d.MessageID, Reason: protocol.RemovedUser})
		}
		c.settle(cmd, protocol.QueueRemoveResult{Removed: found})
	case protocol.DoQueueMove:
		d, ok := data[protocol.QueueMoveData](c, cmd)
		if !ok || missing(d.MessageID) {
			return
		}
		c.add(t, protocol.QueueMoved, c.me(), protocol.QueueMovedData{MessageID: d.MessageID, Index: max(0, min(d.Index, len(state.Queue)-1))})
		c.settle(cmd, protocol.Empty{})
	case protocol.DoQueueHold:
		d, ok := data[protocol.QueueHoldData](c, cmd)
		if !ok || d.MessageID != "" && missing(d.MessageID) {
			return
		}
		if len(state.Holds) >= maxWaits {
			c.fail(cmd, protocol.Errorf(protocol.CodeTooMany, "too many holds"))
			return
		}
		h := protocol.Hold{ID: c.call.ID("h"), Reason: protocol.HoldUser, MessageID: d.MessageID, By: c.me()}
		if d.MessageID != "" {
			h.Reason = protocol.HoldEdit
		}
		c.add(t, protocol.QueueHeld, c.me(), h)
		c.settle(cmd, protocol.QueueHoldResult{Hold: h.ID})
	case protocol.DoQueueRelease:
		d, ok := data[protocol.QueueReleaseData](c, cmd)
		if !ok {
			return
		}
		gone := []string{}
		for _, h := range state.Holds {
			if d.Hold == "" || h.ID == d.Hold {
				gone = append(gone, h.ID)
			}
		}
		c.release(t, gone)
		c.settle(cmd, protocol.QueueReleaseResult{Released: gone})
	}
	c.proceed(t)
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

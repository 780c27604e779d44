package client

import (
	"slices"

	"agentctl/protocol"
)

// handleQueueCommand changes the queue, which only the client end keeps: a server of the dialect
// would cancel its stream.
func (c *Conn) handleQueueCommand(s *session, cmd *protocol.Command) {
	var result any
	var err *protocol.Error
	switch cmd.Command {
	case protocol.DoQueueEdit:
		result, err = applyQueueCommand(s, cmd, c.queueEdit)
	case protocol.DoQueueRemove:
		result, err = applyQueueCommand(s, cmd, c.queueRemove)
	case protocol.DoQueueMove:
		result, err = applyQueueCommand(s, cmd, c.queueMove)
	case protocol.DoQueueHold:
		result, err = applyQueueCommand(s, cmd, c.queueHold)
	case protocol.DoQueueRelease:
		result, err = applyQueueCommand(s, cmd, c.queueRelease)
	}
	if err != nil {
		c.Fail(cmd, err)
		return
	}
	c.answerOnce(cmd, result)
	c.sendNext(s)
}

// applyQueueCommand decodes a command's data and calls do.
func applyQueueCommand[T any](
	s *session, cmd *protocol.Command, do func(*session, *T) (any, *protocol.Error),
) (any, *protocol.Error) {
	d := new(T)
	if err := cmd.DecodeData(d); err != nil {
		return nil, protocol.AsError(err)
	}
	return do(s, d)
}

// checkQueued returns not_found if a message is not queued, or nil.
func (s *session) checkQueued(message string) *protocol.Error {
	if s.log.State.QueueIndex(message) >= 0 {
		return nil
	}
	return protocol.Errorf(protocol.CodeNotFound, "no message %.80q is queued", message)
}

func (c *Conn) queueEdit(s *session, d *protocol.QueueEditData) (any, *protocol.Error) {
	if err := s.checkQueued(d.MessageID); err != nil {
		return nil, err
	}
	if len(d.Parts) > 0 || d.Text == "" {
		return nil, c.Responder.Unsupported(textOnly)
	}
	c.record(s, protocol.QueueUpdated, c.User(), protocol.QueueUpdatedData{MessageID: d.MessageID, Text: d.Text})
	var edits []string
	for _, h := range s.log.State.Holds {
		if h.Reason == protocol.HoldEdit && h.MessageID == d.MessageID {
			edits = append(edits, h.ID)
		}
	}
	c.releaseHolds(s, edits)
	return protocol.Empty{}, nil
}

func (c *Conn) queueRemove(s *session, d *protocol.QueueRemoveData) (any, *protocol.Error) {
	if s.checkQueued(d.MessageID) != nil {
		return protocol.QueueRemoveResult{}, nil
	}
	c.record(s, protocol.QueueRemoved, c.User(), protocol.QueueRemovedData{
		MessageID: d.MessageID, Reason: protocol.RemovedUser,
	})
	return protocol.QueueRemoveResult{Removed: true}, nil
}

func (c *Conn) queueMove(s *session, d *protocol.QueueMoveData) (any, *protocol.Error) {
	if err := s.checkQueued(d.MessageID); err != nil {
		return nil, err
	}
	last := len(s.log.State.Queue) - 1
	c.record(s, protocol.QueueMoved, c.User(), protocol.QueueMovedData{
		MessageID: d.MessageID, Index: max(0, min(d.Index, last)),
	})
	return protocol.Empty{}, nil
}

func (c *Conn) queueHold(s *session, d *protocol.QueueHoldData) (any, *protocol.Error) {
	h := protocol.Hold{ID: c.Options.ID("h"), Reason: protocol.HoldUser, MessageID: d.MessageID, By: c.User()}
	if d.MessageID != "" {
		if err := s.checkQueued(d.MessageID); err != nil {
			return nil, err
		}
		h.Reason = protocol.HoldEdit
	}
	if len(s.log.State.Holds) >= maxRequests {
		return nil, protocol.Errorf(protocol.CodeTooMany, "too many holds")
	}
	c.record(s, protocol.QueueHeld, c.User(), h)
	return protocol.QueueHoldResult{Hold: h.ID}, nil
}

func (c *Conn) queueRelease(s *session, d *protocol.QueueReleaseData) (any, *protocol.Error) {
	released := []string{}
	for _, h := range s.log.State.Holds {
		if d.Hold == "" || h.ID == d.Hold {
			released = append(released, h.ID)
		}
	}
	c.releaseHolds(s, released)
	return protocol.QueueReleaseResult{Released: released}, nil
}

func (c *Conn) releaseHolds(s *session, holds []string) {
	if len(holds) > 0 {
		c.record(s, protocol.QueueReleased, c.User(), protocol.QueueReleasedData{Holds: slices.Clone(holds)})
	}
}

// applyQueueMode keeps, holds or clears the queue after an interrupt.
func (c *Conn) applyQueueMode(s *session, what string) {
	queue := slices.Clone(s.log.State.Queue)
	switch {
	case len(queue) == 0:
	case what == protocol.QueueHold:
		c.holdQueue(s, protocol.HoldInterrupt)
	case what == protocol.QueueClear:
		for _, m := range queue {
			c.record(s, protocol.QueueRemoved, c.User(), protocol.QueueRemovedData{
				MessageID: m.MessageID, Reason: protocol.RemovedCleared,
			})
		}
	}
}

// holdQueue holds the queue unless it is empty.
func (c *Conn) holdQueue(s *session, why string) {
	if len(s.log.State.Queue) > 0 {
		c.record(s, protocol.QueueHeld, c.User(), protocol.Hold{ID: c.Options.ID("h"), Reason: why, By: c.User()})
	}
}

package effectiveagent

import "agentctl/protocol"

// isCarried reports whether a command is sent in the note of an activity.
func isCarried(v protocol.Verb) bool {
	switch v {
	case protocol.DoInterrupt, protocol.DoApprove, protocol.DoQueueEdit, protocol.DoQueueRemove, protocol.DoQueueMove,
		protocol.DoQueueSteer, protocol.DoQueueHold, protocol.DoQueueRelease:
		return true
	}
	return false
}

// carryCommand sends a command in the note of an activity. Only agentctl's servers understand
// notes: others would pass the activity to the agent, so it fails for them.
func (c *client) carryCommand(cmd *protocol.Command) {
	s := c.sessions[cmd.Session]
	if s == nil && c.Options.PeerIsAgentctl {
		if s = c.openSession(cmd); s == nil { // to learn the pending requests
			return
		}
	}
	if s == nil || s.err != nil {
		c.Failf(cmd, protocol.CodeUnsupported, "the dialect %s supports this only for subscribed sessions", Name)
		return
	}
	if !s.hasNotes {
		c.FailUnsupported(cmd, string(cmd.Command))
		return
	}
	data := protocol.CommandOf(cmd.Command).Data()
	if !c.DecodeData(cmd, data) {
		return
	}
	switch d := data.(type) {
	case *protocol.InterruptData:
		turn := s.log.Turn()
		if turn == "" || d.Turn != "" && d.Turn != turn {
			c.Answer(cmd, protocol.InterruptResult{})
			return
		}
		d.Turn = s.alias.toRemote(turn)
	case *protocol.ApproveData:
		if pending := s.log.State.Approvals; d.Request == "" && len(pending) == 1 {
			d.Request = pending[0].Request
		}
	}
	c.sendActivity(&pendingCommand{command: *cmd, id: c.Options.ID("m")}, data, s.form, c.answers(s.id))
}

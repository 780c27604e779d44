package effectiveagent

import (
	"slices"

	"agentctl/protocol"
)

// carryCommand sends a command in the note of an activity. Only agentctl's servers understand
// notes: others would pass the activity to the agent, so it fails for them.
func (c *client) carryCommand(cmd *protocol.Command) {
	s := c.sessions[cmd.Session]
	if s == nil && c.Options.PeerIsAgentctl {
		s = c.openSession(cmd) // to learn the pending requests
	} else {
		s = c.requireFollowed(cmd)
	}
	if s == nil {
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
		d.Turn = s.remoteTurnID(turn)
	case *protocol.ApproveData:
		if pending := s.log.State.Approvals; d.Request == "" && len(pending) == 1 {
			d.Request = pending[0].Request
		}
	}
	c.sendActivity(&pendingCommand{command: *cmd, id: c.Options.ID("m")}, data)
}

// failPending fails the pending commands of a session whose events ended.
func (c *client) failPending(s *session) {
	for _, w := range slices.Clone(c.pending) {
		if w.send == nil && w.command.Session == s.id {
			c.removePending(w)
			if w.readsLog && s.err != nil {
				c.Fail(&w.command, s.err)
				continue
			}
			c.Failf(&w.command, protocol.CodeNotSubscribed, "unsubscribed before its result was known")
		}
	}
}

package effectiveagent

import (
	"slices"
	"time"

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
	w := &pendingCommand{command: *cmd, id: c.Options.ID("m"), data: protocol.CommandOf(cmd.Command).Data()}
	if !c.DecodeData(cmd, w.data) {
		return
	}
	turn := s.log.Turn()
	switch d := w.data.(type) {
	case *protocol.InterruptData:
		if turn == "" || d.Turn != "" && d.Turn != turn {
			c.Answer(cmd, protocol.InterruptResult{})
			return
		}
		d.Turn, w.turn, w.needsEvent = s.remoteTurnID(turn), turn, true
	case *protocol.ApproveData:
		if pending := s.log.State.Approvals; d.Request == "" && len(pending) == 1 {
			d.Request = pending[0].Request
		}
		w.needsEvent = !isExplain(s.log.State, d)
	}
	c.sendActivity(w, w.data)
}

// isExplain reports whether a decision leaves its request pending.
func isExplain(st *protocol.State, d *protocol.ApproveData) bool {
	if a := st.PendingApproval(d.Request); a != nil {
		for _, o := range a.Options {
			if o.ID == d.Option {
				return o.Kind == protocol.Explain
			}
		}
	}
	return d.Decision == protocol.Explain
}

// answerCarried answers a command without an error, with the result of its events. If the result
// needs an event, it waits for it.
func (c *client) answerCarried(w *pendingCommand) {
	if w.needsEvent && w.result == nil {
		w.doneAt = time.Time{}
		return
	}
	c.removePending(w)
	if w.result == nil {
		w.result = protocol.CommandOf(w.command.Command).Result()
		switch r := w.result.(type) {
		case *protocol.ApproveResult:
			d := w.data.(*protocol.ApproveData)
			r.Request, r.Decision = d.Request, d.Decision
		case *protocol.QueueReleaseResult:
			r.Released = []string{}
		}
	}
	c.Answer(&w.command, w.result)
}

// resultFromEvent returns the result that an event gives a command, or nil.
func resultFromEvent(w *pendingCommand, turn string, event any) any {
	switch d := w.data.(type) {
	case *protocol.InterruptData:
		if _, ok := event.(*protocol.TurnEndedData); ok && turn == w.turn {
			return protocol.InterruptResult{Interrupted: true, Turn: turn}
		}
	case *protocol.ApproveData:
		if e, ok := event.(*protocol.ApprovalResolvedData); ok && e.Request == d.Request {
			return protocol.ApproveResult{Request: e.Request, Outcome: e.Outcome, Decision: e.Decision, Rule: e.Rule}
		}
	case *protocol.QueueRemoveData:
		if e, ok := event.(*protocol.QueueRemovedData); ok && e.MessageID == d.MessageID {
			return protocol.QueueRemoveResult{Removed: true}
		}
	case *protocol.QueueHoldData:
		if e, ok := event.(*protocol.Hold); ok && e.MessageID == d.MessageID {
			return protocol.QueueHoldResult{Hold: e.ID}
		}
	case *protocol.QueueReleaseData:
		if e, ok := event.(*protocol.QueueReleasedData); ok {
			return protocol.QueueReleaseResult{Released: e.Holds}
		}
	}
	return nil
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

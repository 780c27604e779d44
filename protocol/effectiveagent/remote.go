package effectiveagent

import (
	"slices"
	"time"

	"agentctl/protocol"
)

// remote carries a command to a server of our kind. Any other would take it for words to the agent, so it never hears it.
func (c *Client) remote(cmd *protocol.Command) {
	s := c.sessions[cmd.Session]
	if s == nil && c.call.PeerIsAgentctl {
		s = c.opened(cmd) // which tells what there is to decide on
	} else {
		s = c.follows(cmd)
	}
	if s == nil {
		return
	}
	if !s.noted {
		c.fail(cmd, protocol.CodeUnsupported, "the dialect %s cannot say %s", Name, cmd.Command)
		return
	}
	w := &wait{cmd: *cmd, id: c.call.ID("m"), data: protocol.CommandOf(cmd.Command).Data()}
	if !c.data(cmd, w.data) {
		return
	}
	turn := s.turn()
	switch d := w.data.(type) {
	case *protocol.InterruptData:
		if turn == "" || d.Turn != "" && d.Turn != turn {
			c.desk.Answer(c.out, cmd, protocol.InterruptResult{})
			return
		}
		d.Turn, w.turn, w.ends = s.theirs(turn), turn, true
	case *protocol.ApproveData:
		if pending := s.log.State.Approvals; d.Request == "" && len(pending) == 1 {
			d.Request = pending[0].Request
		}
		w.ends = !explains(s.log.State, d)
	}
	c.act(w, w.data)
}

// explains reports whether an answer to an approval leaves it pending.
func explains(st *protocol.State, d *protocol.ApproveData) bool {
	if a := st.PendingApproval(d.Request); a != nil {
		for _, o := range a.Options {
			if o.ID == d.Option {
				return o.Kind == protocol.Explain
			}
		}
	}
	return d.Decision == protocol.Explain
}

// carried answers a command that the server did not refuse, with what its events say of it; if they have to, not before.
func (c *Client) carried(w *wait) {
	if w.ends && w.told == nil {
		w.due = time.Time{}
		return
	}
	c.forget(w)
	if w.told == nil {
		w.told = protocol.CommandOf(w.cmd.Command).Result()
		switch r := w.told.(type) {
		case *protocol.ApproveResult:
			d := w.data.(*protocol.ApproveData)
			r.Request, r.Decision = d.Request, d.Decision
		case *protocol.QueueReleaseResult:
			r.Released = []string{}
		}
	}
	c.desk.Answer(c.out, &w.cmd, w.told)
}

// outcome is the result of a command, where an event tells it; else nil.
func outcome(w *wait, turn string, event any) any {
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

// leave fails the commands to a session whose events do not come any more.
func (c *Client) leave(s *session) {
	for _, w := range slices.Clone(c.waiting) {
		if w.send == nil && w.cmd.Session == s.id {
			c.forget(w)
			if w.looks && s.refused != nil {
				c.desk.Fail(c.out, &w.cmd, s.refused)
				continue
			}
			c.fail(&w.cmd, protocol.CodeNotSubscribed, "what became of it was not seen")
		}
	}
}

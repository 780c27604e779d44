package effectiveagent

import (
	"slices"
	"time"

	"agentctl/protocol"
)

// remote carries a command to a server of our kind. Any other would take it for words to the agent, so it never hears it.
func (c *Client) remote(cmd *protocol.Command) {
	s := c.follows(cmd)
	if s == nil {
		return
	}
	if !s.noted {
		c.fail(cmd, protocol.CodeUnsupported, "the dialect %s cannot say %s", Name, cmd.Command)
		return
	}
	w := &wait{cmd: *cmd, data: protocol.CommandOf(cmd.Command).Data(), before: *s.log.State}
	if !c.data(cmd, w.data) {
		return
	}
	w.before.Queue, w.before.Holds = slices.Clone(w.before.Queue), slices.Clone(w.before.Holds)
	turn := s.turn()
	switch d := w.data.(type) {
	case *protocol.InterruptData:
		if turn == "" || d.Turn != "" && d.Turn != turn {
			c.desk.Answer(c.out, cmd, protocol.InterruptResult{})
			return
		}
		d.Turn, w.turn = s.theirs(turn), turn
	case *protocol.ApproveData:
		if pending := s.log.State.Approvals; d.Request == "" && len(pending) == 1 {
			d.Request = pending[0].Request
		}
	}
	if c.expect(w) {
		c.act(cmd, c.call.ID("m"), w.data)
	}
}

// carried answers a command that the server did not refuse, with what its events say of it.
func (c *Client) carried(s *session, w *wait) {
	if w.turn != "" && s != nil { // answered when the turn is over
		w.due = time.Time{}
		return
	}
	c.forget(w)
	if s == nil {
		c.fail(&w.cmd, protocol.CodeNotSubscribed, "what became of it was not seen")
		return
	}
	now := s.log.State
	var r any = protocol.Empty{}
	switch d := w.data.(type) {
	case *protocol.ApproveData:
		a := protocol.ApproveResult{Request: d.Request, Decision: d.Decision}
		if w.told != nil {
			a.Outcome, a.Decision, a.Rule = w.told.Outcome, w.told.Decision, w.told.Rule
		}
		r = a
	case *protocol.QueueRemoveData:
		r = protocol.QueueRemoveResult{Removed: w.before.Queued(d.MessageID) >= 0 && now.Queued(d.MessageID) < 0}
	case *protocol.QueueHoldData:
		var h protocol.QueueHoldResult
		for _, hold := range added(w.before.Holds, now.Holds) {
			if hold.MessageID == d.MessageID {
				h.Hold = hold.ID
			}
		}
		r = h
	case *protocol.QueueReleaseData:
		gone := protocol.QueueReleaseResult{Released: []string{}}
		for _, hold := range added(now.Holds, w.before.Holds) {
			gone.Released = append(gone.Released, hold.ID)
		}
		r = gone
	}
	c.desk.Answer(c.out, &w.cmd, r)
}

// added lists the holds that are in now and not in before.
func added(before, now []protocol.Hold) (list []protocol.Hold) {
	for _, h := range now {
		if !slices.ContainsFunc(before, func(o protocol.Hold) bool { return o.ID == h.ID }) {
			list = append(list, h)
		}
	}
	return list
}

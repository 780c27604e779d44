package client

import (
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// command carries out a command of agentctl's client.
func (c *Conn) command(cmd *protocol.Command) {
	if cmd.Session != "" && !strings.HasPrefix(c.log.Session, cmd.Session) {
		c.Failf(
			cmd, protocol.CodeNoSession, "the dialect %s has one session per URL, and this one is %q", wire.Name,
			c.log.Session,
		)
		return
	}
	switch cmd.Command {
	case protocol.DoSubscribe:
		c.Subscribe(cmd, c.log)
	case protocol.DoUnsubscribe:
		c.Unsubscribe(cmd, c.log)
	case protocol.DoSnapshot:
		c.AnswerSnapshot(cmd, c.log)
	case protocol.DoHistory:
		c.AnswerHistory(cmd, c.log)
	case protocol.DoList:
		c.Answer(cmd, protocol.ListResult{Sessions: []protocol.Summary{c.log.Summary()}})
	case protocol.DoWatch:
		c.AnswerWatch(cmd, []*codec.Log{c.log}, nil)
	case protocol.DoSend:
		var d protocol.SendData
		if c.DecodeData(cmd, &d) {
			c.sendMessage(cmd, &d)
		}
	case protocol.DoApprove:
		var d protocol.ApproveData
		if c.DecodeData(cmd, &d) {
			c.approve(cmd, &d)
		}
	case protocol.DoContext:
		c.requestContext(cmd, wire.GetContextType, contextTimeout)
	case protocol.DoCompact:
		c.requestContext(cmd, wire.CompactType, compactTimeout)
	}
}

// A contextRequest is a request about the context without an answer.
type contextRequest struct {
	cmd *protocol.Command
	due time.Time
}

func (c *Conn) requestContext(cmd *protocol.Command, typ string, patience time.Duration) {
	if len(c.contextRequests) >= maxPending {
		c.Fail(cmd, codec.TooMany(maxPending))
		return
	}
	c.contextRequests = append(c.contextRequests, &contextRequest{cmd, c.Now.Add(patience)})
	c.send(typ, nil)
}

// takeContextRequest removes and returns the oldest request of a verb, or nil. An empty verb means
// any.
func (c *Conn) takeContextRequest(verb protocol.Verb) *protocol.Command {
	for i, w := range c.contextRequests {
		if verb == "" || w.cmd.Command == verb {
			c.contextRequests = append(c.contextRequests[:i:i], c.contextRequests[i+1:]...)
			return w.cmd
		}
	}
	return nil
}

// expireTimeouts acts on the timeouts that passed.
func (c *Conn) expireTimeouts() {
	if !c.readyAt.IsZero() && !c.Now.Before(c.readyAt) {
		c.resumePrevious("")
		early := c.held
		c.readyAt, c.held = time.Time{}, nil
		for i := range early {
			c.command(&early[i])
		}
	}
	if !c.startsAt.IsZero() && !c.Now.Before(c.startsAt) {
		c.startTurn(c.takeNextSend(), "")
	}
	if t := c.turn; t != nil {
		if !t.joinsAt.IsZero() && !c.Now.Before(t.joinsAt) {
			c.joinWithoutEcho()
		}
		if t.failure.held != "" && !c.Now.Before(t.failure.due) {
			c.releaseFailure()
		}
	}
	if v := c.decision; v != nil && !c.Now.Before(v.due) {
		c.confirmDecision()
	}
	if w := c.explanation; w != nil && !c.Now.Before(w.due) {
		c.failExplanation(protocol.Errorf(protocol.CodeTimeout, "the server did not explain"))
	}
	c.contextRequests = slices.DeleteFunc(c.contextRequests, func(w *contextRequest) bool {
		late := !c.Now.Before(w.due)
		if late {
			c.Failf(w.cmd, protocol.CodeTimeout, "the server did not answer %s", w.cmd.Command)
		}
		return late
	})
	c.sends = slices.DeleteFunc(c.sends, func(s *pendingSend) bool {
		if s.cmd == nil || c.Now.Before(s.due) {
			return false
		}
		c.Failf(s.cmd, protocol.CodeTimeout,
			"the server did not confirm the message, as if another client had taken over: "+
				"look whether it arrived before you send it again")
		return true
	})
}

// scheduleWake sets the wake-up for the next timeout.
func (c *Conn) scheduleWake() {
	c.Out.WakeBy(c.readyAt)
	c.Out.WakeBy(c.startsAt)
	if t := c.turn; t != nil {
		c.Out.WakeBy(t.joinsAt)
		if t.failure.held != "" {
			c.Out.WakeBy(t.failure.due)
		}
	}
	if c.decision != nil {
		c.Out.WakeBy(c.decision.due)
	}
	if c.explanation != nil {
		c.Out.WakeBy(c.explanation.due)
	}
	for _, w := range c.contextRequests {
		c.Out.WakeBy(w.due)
	}
	for _, s := range c.sends {
		if s.cmd != nil {
			c.Out.WakeBy(s.due)
		}
	}
}

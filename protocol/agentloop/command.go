package agentloop

import (
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// command carries out a command of our client.
func (c *client) command(cmd *protocol.Command) {
	if cmd.Session != "" && !strings.HasPrefix(c.log.Session, cmd.Session) {
		c.Failf(cmd, protocol.CodeNoSession, "in the dialect %s the URL names the session, and this one is %q", Name, c.log.Session)
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
		c.wait(cmd, getContextType, contextWait)
	case protocol.DoCompact:
		c.wait(cmd, compactType, compactWait)
	}
}

// A wait is a question about the context that the server has not answered.
type wait struct {
	cmd *protocol.Command
	due time.Time
}

func (c *client) wait(cmd *protocol.Command, typ string, patience time.Duration) {
	if len(c.waits) >= maxAsked {
		c.Fail(cmd, codec.TooMany(maxAsked))
		return
	}
	c.waits = append(c.waits, &wait{cmd, c.Now.Add(patience)})
	c.send(typ, nil)
}

// answered takes out the oldest question of that verb, or nil; an empty verb: the oldest of all.
func (c *client) answered(verb protocol.Verb) *protocol.Command {
	for i, w := range c.waits {
		if verb == "" || w.cmd.Command == verb {
			c.waits = append(c.waits[:i:i], c.waits[i+1:]...)
			return w.cmd
		}
	}
	return nil
}

// expire ends what has waited too long.
func (c *client) expire() {
	if !c.opens.IsZero() && !c.Now.Before(c.opens) {
		c.goOn("")
		early := c.early
		c.opens, c.early = time.Time{}, nil
		for i := range early {
			c.command(&early[i])
		}
	}
	if !c.starts.IsZero() && !c.Now.Before(c.starts) {
		c.begin(c.unnamed(), "")
	}
	if v := c.verdict; v != nil && !c.Now.Before(v.due) {
		c.settle()
	}
	if w := c.why; w != nil && !c.Now.Before(w.due) {
		c.unexplained(protocol.Errorf(protocol.CodeTimeout, "the server did not explain"))
	}
	c.waits = slices.DeleteFunc(c.waits, func(w *wait) bool {
		late := !c.Now.Before(w.due)
		if late {
			c.Failf(w.cmd, protocol.CodeTimeout, "the server did not answer %s", w.cmd.Command)
		}
		return late
	})
	c.sends = slices.DeleteFunc(c.sends, func(s *sent) bool {
		if s.cmd == nil || c.Now.Before(s.due) {
			return false
		}
		c.Failf(s.cmd, protocol.CodeTimeout,
			"the server does not show whether it has the message: check, then send it again with another key")
		return true
	})
}

// scheduleWake makes the host wake the codec when expire has something to do.
func (c *client) scheduleWake() {
	c.Out.WakeBy(c.opens)
	c.Out.WakeBy(c.starts)
	if c.verdict != nil {
		c.Out.WakeBy(c.verdict.due)
	}
	if c.why != nil {
		c.Out.WakeBy(c.why.due)
	}
	for _, w := range c.waits {
		c.Out.WakeBy(w.due)
	}
	for _, s := range c.sends {
		if s.cmd != nil {
			c.Out.WakeBy(s.due)
		}
	}
}

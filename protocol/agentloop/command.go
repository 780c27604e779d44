package agentloop

import (
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
)

// command carries out a command of our client.
func (c *Client) command(cmd *protocol.Command) {
	if cmd.Session != "" && !strings.HasPrefix(c.log.Session, cmd.Session) {
		c.desk.Fail(c.out, cmd, protocol.Errorf(protocol.CodeNoSession,
			"in the dialect %s the URL names the session, and this one is %q", Name, c.log.Session))
		return
	}
	switch cmd.Command {
	case protocol.DoSubscribe:
		c.log.Attach(c.out, &c.desk, cmd, c.now)
	case protocol.DoUnsubscribe:
		c.log.Detach()
		c.desk.Answer(c.out, cmd, protocol.Empty{})
	case protocol.DoSnapshot:
		c.desk.Answer(c.out, cmd, c.log.Snapshot())
	case protocol.DoHistory:
		var d protocol.HistoryData
		if c.data(cmd, &d) {
			c.desk.Answer(c.out, cmd, c.log.History(d))
		}
	case protocol.DoList:
		c.desk.Answer(c.out, cmd, protocol.ListResult{Sessions: []protocol.Summary{c.log.Summary()}})
	case protocol.DoWatch:
		var d protocol.WatchData
		if c.data(cmd, &d) {
			c.watched = !d.Off
			list := protocol.ListResult{Sessions: []protocol.Summary{}}
			if c.watched {
				s := c.log.Summary()
				list.Sessions = append(list.Sessions, s)
				s.Seq = 0
				c.summary = string(protocol.MustEncode(s))
			}
			c.desk.Answer(c.out, cmd, list)
		}
	case protocol.DoSend:
		var d protocol.SendData
		if c.data(cmd, &d) {
			c.send(cmd, &d)
		}
	case protocol.DoApprove:
		var d protocol.ApproveData
		if c.data(cmd, &d) {
			c.approve(cmd, &d)
		}
	case protocol.DoContext:
		c.wait(cmd, getContextType, contextWait)
	case protocol.DoCompact:
		c.wait(cmd, compactType, compactWait)
	}
}

// data reads a command's data; false when it was answered that it is wrong.
func (c *Client) data(cmd *protocol.Command, v any) bool {
	err := cmd.DecodeData(v)
	if err != nil {
		c.desk.Fail(c.out, cmd, err)
	}
	return err == nil
}

// A wait is a question about the context that the server has not answered.
type wait struct {
	cmd *protocol.Command
	due time.Time
}

func (c *Client) wait(cmd *protocol.Command, typ string, patience time.Duration) {
	if len(c.waits) >= maxAsked {
		c.desk.Fail(c.out, cmd, tooMany())
		return
	}
	c.waits = append(c.waits, &wait{cmd, c.now.Add(patience)})
	c.say(typ, nil)
}

func tooMany() *protocol.Error {
	return &protocol.Error{Code: protocol.CodeTooMany, Message: "too many requests under way", Limit: maxAsked}
}

// answered takes out the oldest question of that verb, or nil; an empty verb: the oldest of all.
func (c *Client) answered(verb protocol.Verb) *protocol.Command {
	for i, w := range c.waits {
		if verb == "" || w.cmd.Command == verb {
			c.waits = append(c.waits[:i:i], c.waits[i+1:]...)
			return w.cmd
		}
	}
	return nil
}

// expire ends what has waited too long.
func (c *Client) expire() {
	if !c.opens.IsZero() && !c.now.Before(c.opens) {
		c.goOn("")
		early := c.early
		c.opens, c.early = time.Time{}, nil
		for _, cmd := range early {
			c.command(cmd)
		}
	}
	if !c.starts.IsZero() && !c.now.Before(c.starts) {
		c.begin(c.unnamed(), "")
	}
	if v := c.verdict; v != nil && !c.now.Before(v.due) {
		c.settle()
	}
	if w := c.why; w != nil && !c.now.Before(w.due) {
		c.unexplained(protocol.Errorf(protocol.CodeTimeout, "the server did not explain"))
	}
	c.waits = slices.DeleteFunc(c.waits, func(w *wait) bool {
		late := !c.now.Before(w.due)
		if late {
			c.desk.Fail(c.out, w.cmd, protocol.Errorf(protocol.CodeTimeout, "the server did not answer %s", w.cmd.Command))
		}
		return late
	})
	c.sends = slices.DeleteFunc(c.sends, func(s *sent) bool {
		if s.cmd == nil || c.now.Before(s.due) {
			return false
		}
		c.desk.Fail(c.out, s.cmd, protocol.Errorf(protocol.CodeTimeout,
			"the server does not show whether it has the message: look, and send it again under another key"))
		return true
	})
}

// next is when expire is to be called.
func (c *Client) next() (at time.Time) {
	sooner := func(t time.Time) {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	sooner(c.opens)
	sooner(c.starts)
	if c.verdict != nil {
		sooner(c.verdict.due)
	}
	if c.why != nil {
		sooner(c.why.due)
	}
	for _, w := range c.waits {
		sooner(w.due)
	}
	for _, s := range c.sends {
		if s.cmd != nil {
			sooner(s.due)
		}
	}
	return at
}

package sandcastle

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
)

// command carries out a command of our client.
func (c *Client) command(cmd protocol.Command) {
	switch cmd.Command {
	case protocol.DoSubscribe:
		c.subscribe(cmd)
	case protocol.DoUnsubscribe:
		if s := c.sessions[cmd.Session]; s != nil {
			c.leave(s)
		}
		c.desk.Answer(c.out, &cmd, protocol.Empty{})
	case protocol.DoSnapshot:
		c.snapshot(cmd)
	case protocol.DoHistory:
		c.history(cmd)
	case protocol.DoSend:
		c.sendMessage(cmd)
	case protocol.DoInterrupt:
		c.interrupt(cmd)
	case protocol.DoQueueRemove:
		var d protocol.QueueRemoveData
		if c.data(&cmd, &d) {
			c.request(&cmd, opDequeue, payload{SessionID: cmd.Session, MessageID: d.MessageID}, func(v json.RawMessage) any {
				var r dequeueResult
				_ = json.Unmarshal(v, &r)
				return protocol.QueueRemoveResult{Removed: r.Removed}
			})
		}
	case protocol.DoApprove:
		c.approve(cmd)
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

// cannot answers what the dialect cannot say.
func (c *Client) cannot(cmd *protocol.Command, what string) {
	c.desk.Fail(c.out, cmd, protocol.Errorf(protocol.CodeUnsupported, "the dialect %s cannot say %s", Name, what))
}

// request asks the server, and answers the command with what result makes of the value.
func (c *Client) request(cmd *protocol.Command, op operation, p payload, result func(json.RawMessage) any) {
	c.ask(&inquiry{op: op, payload: p, then: func(v json.RawMessage, err *protocol.Error) {
		if err != nil {
			c.desk.Fail(c.out, cmd, err)
			return
		}
		c.desk.Answer(c.out, cmd, result(v))
	}})
}

// session is one that is followed and whose state is known, or nil.
func (c *Client) session(id string) *session {
	if s := c.sessions[id]; s != nil && s.log != nil {
		return s
	}
	return nil
}

func (c *Client) snapshot(cmd protocol.Command) {
	if s := c.known(cmd); s != nil {
		c.desk.Answer(c.out, &cmd, s.log.Snapshot())
	}
}

func (c *Client) history(cmd protocol.Command) {
	var d protocol.HistoryData
	if !c.data(&cmd, &d) {
		return
	}
	if s := c.known(cmd); s != nil {
		c.desk.Answer(c.out, &cmd, s.log.History(d))
	}
}

func (c *Client) interrupt(cmd protocol.Command) {
	var d protocol.InterruptData
	if !c.data(&cmd, &d) {
		return
	}
	s := c.session(cmd.Session)
	switch {
	case d.Queue == protocol.QueueHold:
		c.cannot(&cmd, "interrupt and hold the queue")
		return
	case d.Turn != "" && s != nil && (s.log.State.Turn == nil || s.log.State.Turn.Turn != d.Turn):
		c.desk.Answer(c.out, &cmd, protocol.InterruptResult{Turn: d.Turn})
		return
	case d.Queue == protocol.QueueClear && s == nil:
		c.known(cmd) // comes back when the queue is known
		return
	case d.Queue == protocol.QueueClear:
		for _, m := range s.log.State.Queue {
			c.ask(&inquiry{op: opDequeue, payload: payload{SessionID: cmd.Session, MessageID: m.MessageID}, then: nobody})
		}
	}
	c.ask(&inquiry{op: opInterrupt, payload: payload{SessionID: cmd.Session}, then: func(v json.RawMessage, err *protocol.Error) {
		if err != nil {
			c.desk.Fail(c.out, &cmd, err)
			return
		}
		var r interruptResult
		_ = json.Unmarshal(v, &r)
		res := protocol.InterruptResult{Interrupted: r.Interrupted, Turn: d.Turn}
		if s := c.session(cmd.Session); s != nil && r.Interrupted && s.log.State.Turn != nil &&
			(d.Turn == "" || s.log.State.Turn.Turn == d.Turn) && s.turn != nil && len(s.turn.interrupts) < maxCalls {
			res.Turn = s.log.State.Turn.Turn
			s.turn.interrupts = append(s.turn.interrupts, parked{cmd, res}) // until the end is visible
			return
		}
		c.desk.Answer(c.out, &cmd, res)
	}})
}

func nobody(json.RawMessage, *protocol.Error) {}

// approve answers an approval.
func (c *Client) approve(cmd protocol.Command) {
	var d protocol.ApproveData
	if !c.data(&cmd, &d) {
		return
	}
	s := c.known(cmd)
	if s == nil {
		return
	}
	st := s.log.State
	if d.Request == "" && len(st.Approvals) == 1 {
		d.Request = st.Approvals[0].Request
	}
	a := st.PendingApproval(d.Request)
	if a == nil {
		c.desk.Fail(c.out, &cmd, s.decidedBy(d.Request))
		return
	}
	if i := slices.IndexFunc(a.Options, func(o protocol.Option) bool { return o.ID == d.Option }); d.Option != "" && i >= 0 {
		d.Decision = a.Options[i].Kind
	}
	switch in := d.Input; {
	case !sayable(d.Decision):
		c.cannot(&cmd, "the decision "+string(d.Decision)+": only allow_once and deny")
		return
	case in != nil && (in.Tasks != nil || in.Patch != ""):
		c.cannot(&cmd, "an edited plan or patch: only whether it is allowed")
		return
	}
	approved := d.Decision == protocol.AllowOnce
	p := payload{
		SessionID: cmd.Session, Type: "tool-approval-response", ToolCallID: toolCallOf(a), ToolName: toolNameOf(a), Approved: &approved,
		Payload: answerOf(a, &d),
	}
	request := a.Request
	c.ask(&inquiry{op: opApproval, payload: p, then: func(_ json.RawMessage, err *protocol.Error) {
		if err != nil {
			if err.Code == protocol.CodeNotFound {
				err = s.decidedBy(request)
			}
			c.desk.Fail(c.out, &cmd, err)
			return
		}
		out := protocol.ApprovalResolvedData{Request: request, Outcome: protocol.Allowed, Decision: d.Decision, Reason: d.Reason, Input: d.Input}
		if !approved {
			out.Outcome = protocol.Denied
		}
		c.resolve(s, out, &protocol.Actor{Name: c.call.Name})
		c.desk.Answer(c.out, &cmd, protocol.ApproveResult{Request: request, Outcome: out.Outcome, Decision: d.Decision})
	}})
}

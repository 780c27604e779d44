package sandcastle

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
)

// handleCommand executes a command of the client.
func (c *client) handleCommand(cmd protocol.Command) {
	switch cmd.Command {
	case protocol.DoSubscribe:
		c.handleSubscribe(cmd)
	case protocol.DoUnsubscribe:
		if s := c.sessions[cmd.Session]; s != nil {
			c.unfollow(s)
		}
		c.responder.Answer(c.out, &cmd, protocol.Empty{})
	case protocol.DoSnapshot:
		c.handleSnapshot(cmd)
	case protocol.DoHistory:
		c.handleHistory(cmd)
	case protocol.DoSend:
		c.handleSend(cmd)
	case protocol.DoInterrupt:
		c.handleInterrupt(cmd)
	case protocol.DoQueueRemove:
		var d protocol.QueueRemoveData
		if c.decodeData(&cmd, &d) {
			c.forward(&cmd, opDequeue, payload{SessionID: cmd.Session, MessageID: d.MessageID}, func(v json.RawMessage) any {
				var r dequeueResult
				_ = json.Unmarshal(v, &r)
				return protocol.QueueRemoveResult{Removed: r.Removed}
			})
		}
	case protocol.DoApprove:
		c.handleApprove(cmd)
	}
}

// decodeData decodes a command's data. If it is invalid, the command fails and decodeData returns
// false.
func (c *client) decodeData(cmd *protocol.Command, v any) bool {
	err := cmd.DecodeData(v)
	if err != nil {
		c.responder.Fail(c.out, cmd, err)
	}
	return err == nil
}

// failUnsupported fails a command with the code unsupported.
func (c *client) failUnsupported(cmd *protocol.Command, what string) {
	c.responder.Fail(c.out, cmd, protocol.Errorf(protocol.CodeUnsupported, "the dialect %s cannot say %s", Name, what))
}

// forward sends a request and answers the command with the result.
func (c *client) forward(cmd *protocol.Command, op operation, p payload, result func(json.RawMessage) any) {
	c.sendRequest(&request{op: op, payload: p, done: func(v json.RawMessage, err *protocol.Error) {
		if err != nil {
			c.responder.Fail(c.out, cmd, err)
			return
		}
		c.responder.Answer(c.out, cmd, result(v))
	}})
}

// knownSession returns a session whose state is known, or nil.
func (c *client) knownSession(id string) *session {
	if s := c.sessions[id]; s != nil && s.log != nil {
		return s
	}
	return nil
}

func (c *client) handleSnapshot(cmd protocol.Command) {
	if s := c.requireSession(cmd); s != nil {
		c.responder.Answer(c.out, &cmd, s.log.Snapshot())
	}
}

func (c *client) handleHistory(cmd protocol.Command) {
	var d protocol.HistoryData
	if !c.decodeData(&cmd, &d) {
		return
	}
	if s := c.requireSession(cmd); s != nil {
		c.responder.Answer(c.out, &cmd, s.log.History(d))
	}
}

func (c *client) handleInterrupt(cmd protocol.Command) {
	var d protocol.InterruptData
	if !c.decodeData(&cmd, &d) {
		return
	}
	s := c.knownSession(cmd.Session)
	switch {
	case d.Queue == protocol.QueueHold:
		c.failUnsupported(&cmd, "interrupt and hold the queue")
		return
	case d.Turn != "" && s != nil && (s.log.State.Turn == nil || s.log.State.Turn.Turn != d.Turn):
		c.responder.Answer(c.out, &cmd, protocol.InterruptResult{Turn: d.Turn})
		return
	case d.Queue == protocol.QueueClear && s == nil:
		c.requireSession(cmd) // runs again when the queue is known
		return
	case d.Queue == protocol.QueueClear:
		for _, m := range s.log.State.Queue {
			c.sendRequest(&request{op: opDequeue, payload: payload{SessionID: cmd.Session, MessageID: m.MessageID}, done: ignoreAnswer})
		}
	}
	c.sendRequest(&request{op: opInterrupt, payload: payload{SessionID: cmd.Session}, done: func(v json.RawMessage, err *protocol.Error) {
		if err != nil {
			c.responder.Fail(c.out, &cmd, err)
			return
		}
		var r interruptResult
		_ = json.Unmarshal(v, &r)
		res := protocol.InterruptResult{Interrupted: r.Interrupted, Turn: d.Turn}
		if s := c.knownSession(cmd.Session); s != nil && r.Interrupted && s.log.State.Turn != nil &&
			(d.Turn == "" || s.log.State.Turn.Turn == d.Turn) && s.turn != nil && len(s.turn.interrupts) < maxRequests {
			res.Turn = s.log.State.Turn.Turn
			// until the end is visible
			s.turn.interrupts = append(s.turn.interrupts, pendingInterrupt{cmd, res})
			return
		}
		c.responder.Answer(c.out, &cmd, res)
	}})
}

func ignoreAnswer(json.RawMessage, *protocol.Error) {}

// handleApprove decides an approval.
func (c *client) handleApprove(cmd protocol.Command) {
	var d protocol.ApproveData
	if !c.decodeData(&cmd, &d) {
		return
	}
	s := c.requireSession(cmd)
	if s == nil {
		return
	}
	st := s.log.State
	if d.Request == "" && len(st.Approvals) == 1 {
		d.Request = st.Approvals[0].Request
	}
	a := st.Pending(d.Request)
	if a == nil {
		c.responder.Fail(c.out, &cmd, s.decidedError(d.Request))
		return
	}
	if i := slices.IndexFunc(a.Options, func(o protocol.Option) bool { return o.ID == d.Option }); d.Option != "" && i >= 0 {
		d.Decision = a.Options[i].Kind
	}
	switch in := d.Input; {
	case !supportsDecision(d.Decision):
		c.failUnsupported(&cmd, "the decision "+string(d.Decision)+": only allow_once and deny")
		return
	case in != nil && (in.Tasks != nil || in.Patch != ""):
		c.failUnsupported(&cmd, "an edited plan or patch: only whether it is allowed")
		return
	}
	approved := d.Decision == protocol.AllowOnce
	p := payload{
		SessionID: cmd.Session, Type: "tool-approval-response", ToolCallID: toolCallOf(a), ToolName: toolNameOf(a), Approved: &approved,
		Payload: answerOf(a, &d),
	}
	approvalID := a.Request
	c.sendRequest(&request{op: opApproval, payload: p, done: func(_ json.RawMessage, err *protocol.Error) {
		if err != nil {
			if err.Code == protocol.CodeNotFound {
				err = s.decidedError(approvalID)
			}
			c.responder.Fail(c.out, &cmd, err)
			return
		}
		out := protocol.ApprovalResolvedData{Request: approvalID, Outcome: protocol.Allowed, Decision: d.Decision, Reason: d.Reason, Input: d.Input}
		if !approved {
			out.Outcome = protocol.Denied
		}
		c.recordResolution(s, out, &protocol.Actor{Name: c.options.Name})
		c.responder.Answer(c.out, &cmd, protocol.ApproveResult{Request: approvalID, Outcome: out.Outcome, Decision: d.Decision})
	}})
}

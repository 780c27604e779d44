package client

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
)

// verbs lists the commands that the dialect supports.
var verbs = []protocol.Verb{
	protocol.DoSubscribe, protocol.DoUnsubscribe, protocol.DoSnapshot, protocol.DoHistory, protocol.DoSend,
	protocol.DoInterrupt, protocol.DoQueueRemove, protocol.DoApprove,
}

// unsupportedReasons explains the rejection of a command.
var unsupportedReasons = map[protocol.Verb]string{
	protocol.DoList:         "it has no list of sessions, name one",
	protocol.DoWatch:        "it has no list of sessions",
	protocol.DoCreate:       "its sessions are created elsewhere",
	protocol.DoQueueEdit:    "remove the message and send it again",
	protocol.DoQueueMove:    "remove the message and send it again",
	protocol.DoQueueHold:    "its queue has no holds",
	protocol.DoQueueRelease: "its queue has no holds",
}

// Responder declares the commands that the client supports.
var Responder = codec.Responder{Dialect: wire.Name, Verbs: verbs, Reasons: unsupportedReasons}

// handleCommand executes a command of the client.
func (c *Conn) handleCommand(cmd *protocol.Command) {
	switch cmd.Command {
	case protocol.DoSubscribe:
		if s := c.openSession(cmd); s != nil {
			c.Subscribe(cmd, s.log)
		}
	case protocol.DoUnsubscribe:
		if s := c.sessions[cmd.Session]; s != nil {
			c.unfollow(s)
		}
		c.Answer(cmd, protocol.Empty{})
	case protocol.DoSnapshot:
		if s := c.openSession(cmd); s != nil {
			c.AnswerSnapshot(cmd, s.log)
		}
	case protocol.DoHistory:
		if s := c.openSession(cmd); s != nil {
			c.AnswerHistory(cmd, s.log)
		}
	case protocol.DoSend:
		c.handleSend(cmd)
	case protocol.DoInterrupt:
		c.handleInterrupt(cmd)
	case protocol.DoQueueRemove:
		var d protocol.QueueRemoveData
		if c.DecodeData(cmd, &d) {
			p := wire.Payload{SessionID: cmd.Session, MessageID: d.MessageID}
			c.forward(cmd, wire.OpDequeue, p, func(v json.RawMessage) any {
				var r wire.DequeueResult
				_ = json.Unmarshal(v, &r)
				return protocol.QueueRemoveResult{Removed: r.Removed}
			})
		}
	case protocol.DoApprove:
		c.handleApprove(cmd)
	}
}

func (c *Conn) handleInterrupt(cmd *protocol.Command) {
	var d protocol.InterruptData
	if !c.DecodeData(cmd, &d) {
		return
	}
	s := c.knownSession(cmd.Session)
	switch {
	case d.Queue == protocol.QueueHold:
		c.FailUnsupported(cmd, "interrupt and hold the queue")
		return
	case d.Turn != "" && s != nil && (s.log.State.Turn == nil || s.log.State.Turn.Turn != d.Turn):
		c.Answer(cmd, protocol.InterruptResult{Turn: d.Turn})
		return
	case d.Queue == protocol.QueueClear && s == nil:
		c.openSession(cmd) // runs again when the queue is known
		return
	case d.Queue == protocol.QueueClear:
		for _, m := range s.log.State.Queue {
			c.request(&request{
				op: wire.OpDequeue, payload: wire.Payload{SessionID: cmd.Session, MessageID: m.MessageID}, done: ignoreAnswer,
			})
		}
	}
	c.request(&request{
		op: wire.OpInterrupt, payload: wire.Payload{SessionID: cmd.Session},
		done: func(v json.RawMessage, err *protocol.Error) {
			if err != nil {
				c.Fail(cmd, err)
				return
			}
			var r wire.InterruptResult
			_ = json.Unmarshal(v, &r)
			res := protocol.InterruptResult{Interrupted: r.Interrupted, Turn: d.Turn}
			if s := c.knownSession(cmd.Session); s != nil && r.Interrupted && s.log.State.Turn != nil &&
				(d.Turn == "" || s.log.State.Turn.Turn == d.Turn) && s.turn != nil &&
				len(s.interrupts) < wire.MaxRequests {
				res.Turn = s.log.State.Turn.Turn
				// until the end is visible
				s.interrupts = append(s.interrupts, pendingInterrupt{cmd, res})
				return
			}
			c.Answer(cmd, res)
		},
	})
}

func ignoreAnswer(json.RawMessage, *protocol.Error) {}

// handleApprove decides an approval.
func (c *Conn) handleApprove(cmd *protocol.Command) {
	var d protocol.ApproveData
	if !c.DecodeData(cmd, &d) {
		return
	}
	s := c.openSession(cmd)
	if s == nil {
		return
	}
	a, notPending := s.decisions.Find(s.log.State, &d)
	if notPending != nil {
		c.Fail(cmd, notPending)
		return
	}
	if d.Option != "" {
		i := slices.IndexFunc(a.Options, func(o protocol.Option) bool { return o.ID == d.Option })
		if i >= 0 {
			d.Decision = a.Options[i].Kind
		}
	}
	switch in := d.Input; {
	case !wire.SupportsDecision(d.Decision):
		c.FailUnsupported(cmd, "this decision: only allow once and deny")
		return
	case in != nil && (in.Tasks != nil || in.Patch != "" || in.Command != ""):
		c.FailUnsupported(cmd, "an edited plan, patch or command")
		return
	}
	approved := d.Decision == protocol.AllowOnce
	p := wire.Payload{SessionID: cmd.Session, Response: &wire.ApprovalResponse{
		Type: "tool-approval-response", ToolCallID: wire.ToolCallOf(a), ToolName: wire.ToolNameOf(a), Approved: &approved,
		Payload: wire.AnswerOf(a, &d),
	}}
	approvalID, input := a.Request, a.Recorded(d.Input)
	c.request(&request{op: wire.OpApproval, payload: p, done: func(_ json.RawMessage, err *protocol.Error) {
		if err != nil {
			if err.Code == protocol.CodeNotFound {
				err = s.decisions.Error(approvalID)
			}
			c.Fail(cmd, err)
			return
		}
		out := protocol.ApprovalResolvedData{
			Request: approvalID, Outcome: protocol.Allowed, Decision: d.Decision, Reason: d.Reason, Input: input,
		}
		if !approved {
			out.Outcome = protocol.Denied
		}
		s.record(resolve(s.log.State, c.User(), out)...)
		c.Answer(cmd, protocol.ApproveResult{Request: approvalID, Outcome: out.Outcome, Decision: d.Decision})
	}})
}

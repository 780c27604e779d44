package myagent

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// handleApprove decides a confirmation.
func (c *clientCodec) handleApprove(s *session, cmd *protocol.Command, d *protocol.ApproveData) {
	st := s.log.State
	if d.Request == "" && len(st.Approvals) == 1 {
		d.Request = st.Approvals[0].Request
	}
	a := st.Pending(d.Request)
	if a == nil && (d.Request == "" || !c.capabilities[capReply]) {
		c.responder.Fail(c.out, cmd, s.decidedError(d.Request))
		return
	}
	decision := d.Decision
	if a != nil {
		for _, o := range a.Options {
			if o.ID == d.Option {
				decision = o.Kind
			}
		}
	}
	allow := decision == protocol.AllowOnce || decision == protocol.AllowAlways
	content := meta{}.with("reason", d.Reason)
	if decision != protocol.Explain && (a != nil || d.Option == "") {
		content["approved"], content["confirmed"] = allow, allow
	}
	if in := d.Input; in != nil {
		content.with("patch", in.Patch).with("replan", in.Replan)
		if in.Tasks != nil {
			content["tasks"] = s.foreignTasks(in.Tasks)
		}
		if in.Answers != nil {
			content["answers"] = in.Answers
		}
	}
	f := frame{Session: s.serverID, Event: userResponse, Step: "confirm_" + d.Request, Content: content}
	if a != nil {
		f.Step = confirmStep(a)
	}
	if c.capabilities[capReply] {
		content.with("decision", string(d.Decision)).with("option", d.Option)
		f.Meta = meta{}.with("key", cmd.Key)
		c.sendRequest(f, s, func(result json.RawMessage, err *protocol.Error) { c.forwardAnswer(cmd, result, err) })
		return
	}
	f.Step = a.Request
	c.sendDecision(s, cmd, d, decision, f)
}

// sendDecision sends a decision to a server that knows only yes and no and confirms neither.
func (c *clientCodec) sendDecision(s *session, cmd *protocol.Command, d *protocol.ApproveData, decision protocol.Decision, f frame) {
	r := protocol.ApprovalResolvedData{Request: d.Request, Outcome: protocol.Denied, Decision: decision, Option: d.Option, Reason: d.Reason, Input: d.Input}
	switch decision {
	case protocol.AllowOnce:
		r.Outcome = protocol.Allowed
	case protocol.Deny, protocol.DenyStop:
	case protocol.AllowAlways, protocol.Explain:
		c.responder.Fail(c.out, cmd, c.unsupported(string(decision)))
		return
	default:
		c.responder.Fail(c.out, cmd, protocol.Errorf(protocol.CodeInvalidMessage, "approve: no such decision or option"))
		return
	}
	if d.Input != nil && d.Input.Replan {
		f = frame{Session: s.serverID, Event: userReplan, Content: meta{}.with("reason", d.Reason)}
	}
	turn := s.log.State.Pending(d.Request).Turn
	c.send(f)
	if decision == protocol.DenyStop {
		c.send(frame{Session: s.serverID, Event: userCancel})
	}
	s.record(c, codec.Entry{Type: protocol.ApprovalResolved, Turn: turn, By: c.actor(), Data: r})
	w := protocol.Winner{Outcome: r.Outcome, Decision: decision, Option: d.Option}
	if by := c.actor(); by != nil {
		w.By = *by
	}
	if len(s.decisions) == maxPending {
		s.decisions = slices.Delete(s.decisions, 0, 1)
	}
	s.decisions = append(s.decisions, ownDecision{d.Request, w})
	c.responder.Answer(c.out, cmd, protocol.ApproveResult{Request: d.Request, Outcome: r.Outcome, Decision: decision})
}

// decidedError returns the error for a request that is not pending: conflict with the winner, or
// not_found.
func (s *session) decidedError(request string) *protocol.Error {
	for _, d := range s.decisions {
		if d.request == request {
			e := protocol.Errorf(protocol.CodeConflict, "%s has already decided", d.winner.By.Name)
			e.Winner = &d.winner
			return e
		}
	}
	if request == "" {
		return protocol.Errorf(protocol.CodeNotFound, "approve: name the request: %d are pending", len(s.log.State.Approvals))
	}
	return protocol.Errorf(protocol.CodeNotFound, "no request %q is pending", clipID(request))
}

// foreignTasks encodes tasks under the ids that the server gave them.
func (s *session) foreignTasks(tasks []protocol.Task) []meta {
	all := foreignTasks(tasks)
	for i := range all {
		all[i]["id"] = s.foreignTaskID(tasks[i].ID)
	}
	return all
}

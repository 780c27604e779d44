package myagent

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// approve decides a confirmation.
func (c *client) approve(s *session, cmd *protocol.Command, d *protocol.ApproveData) {
	st := s.log.State
	if d.Request == "" && len(st.Approvals) == 1 {
		d.Request = st.Approvals[0].Request
	}
	a := st.PendingApproval(d.Request)
	if a == nil && (d.Request == "" || !c.can[canReply]) {
		c.desk.Fail(c.out, cmd, s.gone(d.Request))
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
	f := frame{Session: s.foreign, Event: userResponse, Step: "confirm_" + d.Request, Content: content}
	if a != nil {
		f.Step = stepOf(a)
	}
	if c.can[canReply] {
		content.with("decision", string(d.Decision)).with("option", d.Option)
		f.Meta = meta{}.with("key", cmd.Key)
		c.ask(f, s, func(result json.RawMessage, err *protocol.Error) { c.pass(cmd, result, err) })
		return
	}
	f.Step = a.Request
	c.decide(s, cmd, d, decision, f)
}

// decide answers a server that knows nothing but yes and no, and does not say what it made of it.
func (c *client) decide(s *session, cmd *protocol.Command, d *protocol.ApproveData, decision protocol.Decision, f frame) {
	r := protocol.ApprovalResolvedData{Request: d.Request, Outcome: protocol.Denied, Decision: decision, Option: d.Option, Reason: d.Reason, Input: d.Input}
	switch decision {
	case protocol.AllowOnce:
		r.Outcome = protocol.Allowed
	case protocol.Deny, protocol.DenyStop:
	case protocol.AllowAlways, protocol.Explain:
		c.desk.Fail(c.out, cmd, c.unsupported(string(decision)))
		return
	default:
		c.desk.Fail(c.out, cmd, protocol.Errorf(protocol.CodeInvalidMessage, "approve: no such decision or option"))
		return
	}
	if d.Input != nil && d.Input.Replan {
		f = frame{Session: s.foreign, Event: userReplan, Content: meta{}.with("reason", d.Reason)}
	}
	turn := s.log.State.PendingApproval(d.Request).Turn
	c.say(f)
	if decision == protocol.DenyStop {
		c.say(frame{Session: s.foreign, Event: userCancel})
	}
	s.add(c, codec.Entry{Type: protocol.ApprovalResolved, Turn: turn, By: c.by(), Data: r})
	w := protocol.Winner{Outcome: r.Outcome, Decision: decision, Option: d.Option}
	if by := c.by(); by != nil {
		w.By = *by
	}
	if len(s.decided) == maxPending {
		s.decided = slices.Delete(s.decided, 0, 1)
	}
	s.decided = append(s.decided, decided{d.Request, w})
	c.desk.Answer(c.out, cmd, protocol.ApproveResult{Request: d.Request, Outcome: r.Outcome, Decision: decision})
}

// gone is the error for a request that does not wait for a decision.
func (s *session) gone(request string) *protocol.Error {
	for _, d := range s.decided {
		if d.request == request {
			e := protocol.Errorf(protocol.CodeConflict, "%s has already decided", d.winner.By.Name)
			e.Winner = &d.winner
			return e
		}
	}
	if request == "" {
		return protocol.Errorf(protocol.CodeNotFound, "approve: name the request: %d are pending", len(s.log.State.Approvals))
	}
	return protocol.Errorf(protocol.CodeNotFound, "no request %q is pending", clip(request))
}

// foreignTasks writes tasks with the ids that the server gave.
func (s *session) foreignTasks(tasks []protocol.Task) []meta {
	all := foreignTasks(tasks)
	for i := range all {
		all[i]["id"] = s.foreignID(tasks[i].ID)
	}
	return all
}

package myagent

import (
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// handleApprove decides a confirmation.
func (c *client) handleApprove(s *session, cmd *protocol.Command, d *protocol.ApproveData) {
	a, err := s.decisions.Find(s.log.State, d)
	if a == nil && (d.Request == "" || !c.capabilities[capReply]) {
		c.Fail(cmd, err)
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
		if in.Command != "" && !c.capabilities[capReply] {
			c.FailUnsupported(cmd, "an edited command")
			return
		}
		content.with("patch", in.Patch).with("edited_command", in.Command).with("replan", in.Replan)
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
func (c *client) sendDecision(
	s *session, cmd *protocol.Command, d *protocol.ApproveData, decision protocol.Decision, f frame,
) {
	r := protocol.ApprovalResolvedData{
		Request: d.Request, Outcome: protocol.Denied, Decision: decision, Option: d.Option, Reason: d.Reason,
		Input: d.Input,
	}
	switch decision {
	case protocol.AllowOnce:
		r.Outcome = protocol.Allowed
	case protocol.Deny, protocol.DenyStop:
	case protocol.AllowAlways, protocol.Explain:
		c.FailUnsupported(cmd, string(decision))
		return
	default:
		c.Failf(cmd, protocol.CodeInvalidMessage, "approve: no such decision or option")
		return
	}
	a := s.log.State.PendingApproval(d.Request)
	turn, plan := a.Turn, a.Kind == protocol.ApprovePlan
	replan := plan && d.Input != nil && d.Input.Replan
	if replan { // a new plan is made when the pending one is denied
		question := d.Reason
		if question == "" && s.log.State.Plan != nil {
			question = s.log.State.Plan.Question
		}
		c.send(frame{Session: s.serverID, Event: userReplan, Content: meta{}.with("question", question)})
	}
	s.planDenied = plan && r.Outcome == protocol.Denied
	c.send(f)
	if decision == protocol.DenyStop {
		c.send(frame{Session: s.serverID, Event: userCancel})
	}
	c.record(s, codec.Entry{Type: protocol.ApprovalResolved, Turn: turn, By: c.actor(), Data: r})
	if plan && r.Outcome == protocol.Allowed && d.Input != nil && d.Input.Tasks != nil {
		// the server does not announce the tasks of an edited plan
		c.record(s, codec.Entry{
			Type: protocol.PlanCompleted, Turn: turn, Data: protocol.PlanTasksData{Tasks: d.Input.Tasks},
		})
	}
	s.decisions.Put(c.actor(), r)
	c.Answer(cmd, protocol.ApproveResult{Request: d.Request, Outcome: r.Outcome, Decision: decision})
}

// foreignTasks encodes tasks under the ids that the server gave them.
func (s *session) foreignTasks(tasks []protocol.Task) []meta {
	all := foreignTasks(tasks)
	for i := range all {
		all[i]["id"] = s.foreignTaskID(tasks[i].ID)
	}
	return all
}

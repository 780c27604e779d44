package client

import (
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// handleApprove decides a confirmation.
func (c *Conn) handleApprove(s *session, cmd *protocol.Command, d *protocol.ApproveData) {
	a, err := s.decisions.Find(s.log.State, d)
	if a == nil && (d.Request == "" || !c.capabilities[wire.CapReply]) {
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
	content := wire.Meta{}.With("reason", d.Reason)
	if decision != protocol.Explain && (a != nil || d.Option == "") {
		content["approved"], content["confirmed"] = allow, allow
	}
	if in := d.Input; in != nil {
		if in.Command != "" && !c.capabilities[wire.CapReply] {
			c.FailUnsupported(cmd, "an edited command")
			return
		}
		content.With("patch", in.Patch).With("edited_command", in.Command).With("replan", in.Replan)
		if in.Tasks != nil {
			content["tasks"] = s.foreignTasks(in.Tasks)
		}
		if in.Answers != nil {
			content["answers"] = in.Answers
		}
	}
	f := wire.Frame{Session: s.serverID, Event: wire.UserResponse, Step: "confirm_" + d.Request, Content: content}
	if a != nil {
		f.Step = wire.ConfirmStep(a)
	}
	if c.capabilities[wire.CapReply] {
		content.With("decision", string(d.Decision)).With("option", d.Option)
		f.Meta = wire.Meta{}.With("key", cmd.Key)
		c.sendRequest(f, s, func(result json.RawMessage, err *protocol.Error) { c.forwardAnswer(cmd, result, err) })
		return
	}
	f.Step = a.Request
	c.sendDecision(s, cmd, d, decision, f)
}

// sendDecision sends a decision to a server that knows only yes and no and confirms neither.
func (c *Conn) sendDecision(
	s *session, cmd *protocol.Command, d *protocol.ApproveData, decision protocol.Decision, f wire.Frame,
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
		c.send(wire.Frame{Session: s.serverID, Event: wire.UserReplan, Content: wire.Meta{}.With("question", question)})
	}
	s.planDenied = plan && r.Outcome == protocol.Denied
	c.send(f)
	if decision == protocol.DenyStop {
		c.send(wire.Frame{Session: s.serverID, Event: wire.UserCancel})
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
func (s *session) foreignTasks(tasks []protocol.Task) []wire.Meta {
	all := wire.ForeignTasks(tasks)
	for i := range all {
		all[i]["id"] = s.foreignTaskID(tasks[i].ID)
	}
	return all
}

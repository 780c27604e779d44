package client

import (
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// approve decides a confirmation.
func (c command) approve(d *protocol.ApproveData) {
	s := c.s
	a, err := s.decoder.decisions.Find(s.log.State, d)
	if a == nil && (d.Request == "" || !c.x.capabilities[wire.CapReply]) {
		c.fail(err)
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
		if in.Command != "" && !c.x.capabilities[wire.CapReply] {
			c.x.FailUnsupported(c.Command, "an edited command")
			return
		}
		content.With("patch", in.Patch).With("edited_command", in.Command).With("replan", in.Replan)
		if in.Tasks != nil {
			content["tasks"] = s.decoder.foreignTasks(in.Tasks)
		}
		if answers := in.AllAnswers(); len(answers) > 0 {
			content["answers"] = answers
		}
	}
	f := wire.Frame{Session: s.serverID, Event: wire.UserResponse, Step: "confirm_" + d.Request, Content: content}
	if a != nil {
		f.Step = wire.ConfirmStep(a)
	}
	if c.x.capabilities[wire.CapReply] {
		content.With("decision", string(d.Decision)).With("option", d.Option)
		f.Meta = wire.Meta{}.With("key", c.Key)
		c.forward(f)
		return
	}
	f.Step = a.Request
	c.sendDecision(d, decision, f)
}

// sendDecision sends a decision to a server that knows only yes and no and confirms neither.
func (c command) sendDecision(d *protocol.ApproveData, decision protocol.Decision, f wire.Frame) {
	s := c.s
	r := protocol.ApprovalResolvedData{
		Request: d.Request, Outcome: protocol.Denied, Decision: decision, Option: d.Option, Reason: d.Reason,
	}
	switch decision {
	case protocol.AllowOnce:
		r.Outcome = protocol.Allowed
	case protocol.Deny, protocol.DenyStop:
	case protocol.AllowAlways, protocol.Explain:
		c.x.FailUnsupported(c.Command, string(decision))
		return
	default:
		c.x.Failf(c.Command, protocol.CodeInvalidMessage, "approve: no such decision or option")
		return
	}
	a := s.log.State.PendingApproval(d.Request)
	turn, plan := a.Turn, a.Kind == protocol.ApprovePlan
	r.Input = a.Recorded(d.Input)
	replan := plan && d.Input != nil && d.Input.Replan
	if replan { // a new plan is made when the pending one is denied
		question := d.Reason
		if question == "" && s.log.State.Plan != nil {
			question = s.log.State.Plan.Question
		}
		c.x.send(wire.Frame{Session: s.serverID, Event: wire.UserReplan, Content: wire.Meta{}.With("question", question)})
	}
	s.decoder.planDenied = plan && r.Outcome == protocol.Denied
	c.x.send(f)
	if decision == protocol.DenyStop {
		c.x.send(wire.Frame{Session: s.serverID, Event: wire.UserCancel})
	}
	s.record(codec.Entry{Type: protocol.ApprovalResolved, Turn: turn, By: c.x.actor(), Data: r})
	if plan && r.Outcome == protocol.Allowed && d.Input != nil && d.Input.Tasks != nil {
		// the server does not announce the tasks of an edited plan
		s.record(codec.Entry{
			Type: protocol.PlanCompleted, Turn: turn, Data: protocol.PlanTasksData{Tasks: d.Input.Tasks},
		})
	}
	s.decoder.decisions.Put(c.x.actor(), r)
	c.answer(protocol.ApproveResult{Request: d.Request, Outcome: r.Outcome, Decision: decision})
}

// foreignTasks encodes tasks under the ids that the server gave them.
func (dec *decoder) foreignTasks(tasks []protocol.Task) []wire.Meta {
	all := wire.ForeignTasks(tasks)
	for i := range all {
		all[i]["id"] = dec.foreignTaskID(tasks[i].ID)
	}
	return all
}

// foreignTaskID returns a task id as the server wrote it.
func (dec *decoder) foreignTaskID(task string) any {
	if dec.numericTasks[task] {
		return wire.TaskID(task)
	}
	return task
}

package myagent

import (
	"encoding/json"
	"strings"

	"agentctl/protocol"
)

// response decides the confirmation with the same step_id, and no other.
func (s *server) response(c *call) {
	step := string(c.Step)
	if step == "" {
		step = object(c.Content).str("step_id")
	}
	if step == "" {
		s.invalid(c, "step_id is missing")
		return
	}
	d, err := verdict(c.Content)
	if err != "" {
		s.invalid(c, err)
		return
	}
	for _, f := range s.follows {
		if !f.live || c.Session != "" && s.followed(string(c.Session)) != f {
			continue
		}
		for i := range f.state.Approvals {
			a := &f.state.Approvals[i]
			if stepOf(a) != step {
				continue
			}
			if a.Kind != protocol.ApprovePlan && d.Input != nil {
				d.Input.Tasks = nil
			}
			d.Request = a.Request
			s.decide(c, f.session, d)
			return
		}
	}
	// Decided already, or never asked: our server knows which.
	d.Request = strings.TrimPrefix(strings.TrimPrefix(step, "confirm_"), "plan_")
	s.in(c, func(f *follow) { s.decide(c, f.session, d) })
}

// verdict reads the content of a user.response. Where approved and confirmed differ, it is a denial.
func verdict(content json.RawMessage) (d protocol.ApproveData, fault string) {
	o := object(content)
	said, yes := false, true
	for _, v := range []json.RawMessage{o["approved"], o["confirmed"], content} {
		switch string(v) {
		case "true":
			said = true
		case "false":
			said, yes = true, false
		}
	}
	d.Decision = protocol.Decision(o.str("decision"))
	switch {
	case !said && d.Decision == "" && o.str("option") == "":
		return d, "content.approved is missing: true or false"
	case d.Decision != "" && !d.Decision.Valid():
		return d, "content.decision is unknown"
	case said && d.Decision != "" && d.Decision != protocol.Explain &&
		yes != (d.Decision == protocol.AllowOnce || d.Decision == protocol.AllowAlways):
		return d, "content.decision and content.approved contradict each other"
	case said && d.Decision == "":
		d.Decision = protocol.AllowOnce
		if !yes {
			d.Decision = protocol.Deny
		}
	}
	if option := o.str("option"); option != "" {
		d.Option, d.Decision = option, ""
	}
	d.Reason = o.str("reason", "feedback", "message")
	in := protocol.ApprovalInput{Tasks: nativeTasks(o["tasks"]), Patch: o.str("patch"), Replan: o.str("replan") == "true"}
	o.into("answers", &in.Answers)
	if in.Tasks != nil || in.Patch != "" || in.Replan || in.Answers != nil {
		d.Input = &in
	}
	return d, ""
}

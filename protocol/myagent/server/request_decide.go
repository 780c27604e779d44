package server

import (
	"encoding/json"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

// response decides the confirmation with the frame's step_id.
func (c *request) response() {
	step := string(c.Step)
	if step == "" {
		step = wire.ParseObject(c.Content).Str("step_id")
	}
	if step == "" {
		c.refuseInvalid("step_id is missing")
		return
	}
	d, err := decodeVerdict(c.Content)
	if err != "" {
		c.refuseInvalid(err)
		return
	}
	for _, sub := range c.attacher.subs.bySession {
		if !sub.live || c.Session != "" && c.attacher.subs.find(string(c.Session)) != sub {
			continue
		}
		for i := range sub.state.Approvals {
			a := &sub.state.Approvals[i]
			if wire.ConfirmStep(a) != step {
				continue
			}
			if a.Kind != protocol.ApprovePlan && d.Input != nil {
				d.Input.Tasks = nil
			}
			d.Request = a.Request
			if sub.replan.request == a.Request && d.Decision == protocol.Deny && d.Input == nil {
				d.Reason, d.Input = sub.replan.question, &protocol.ApprovalInput{Replan: true}
			}
			c.approve(sub.session, d)
			return
		}
	}
	// Decided already or unknown: agentctl's server answers which.
	d.Request = strings.TrimPrefix(strings.TrimPrefix(step, "confirm_"), "plan_")
	c.withSession(func(sub *subscription) { c.approve(sub.session, d) })
}

func (c *request) approve(session string, d protocol.ApproveData) {
	c.command(protocol.DoApprove, session, d, nil)
}

// decodeVerdict decodes the content of a user.response. If approved and confirmed differ, it
// denies.
func decodeVerdict(content json.RawMessage) (d protocol.ApproveData, fault string) {
	o := wire.ParseObject(content)
	decided, approved := false, true
	for _, v := range []json.RawMessage{o["approved"], o["confirmed"], content} {
		switch string(v) {
		case "true":
			decided = true
		case "false":
			decided, approved = true, false
		}
	}
	d.Decision = protocol.Decision(o.Str("decision"))
	switch {
	case !decided && d.Decision == "" && o.Str("option") == "":
		return d, "content.approved is missing: true or false"
	case d.Decision != "" && !d.Decision.Valid():
		return d, "content.decision is unknown"
	case decided && d.Decision != "" && d.Decision != protocol.Explain &&
		approved != (d.Decision == protocol.AllowOnce || d.Decision == protocol.AllowAlways):
		return d, "content.decision and content.approved contradict each other"
	case decided && d.Decision == "":
		d.Decision = protocol.AllowOnce
		if !approved {
			d.Decision = protocol.Deny
		}
	}
	if option := o.Str("option"); option != "" {
		d.Option, d.Decision = option, ""
	}
	d.Reason = o.Str("reason", "feedback", "message")
	in := protocol.ApprovalInput{
		Tasks: wire.NativeTasks(o["tasks"]), Patch: o.Str("patch"), Command: o.Str("edited_command"),
		Replan: o.Str("replan") == "true",
	}
	o.Decode("answers", &in.Answers)
	if in.Tasks != nil || in.Patch != "" || in.Command != "" || in.Replan || in.Answers != nil {
		d.Input = &in
	}
	return d, ""
}

package plain

import (
	"strings"

	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/describe"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// writeApproval writes a request in full, and the commands that decide it.
func (r *renderer) writeApproval(a *protocol.Approval) {
	r.linef("approval %s: %s", a.Request, a.Kind)
	passages := approval.Passages(a, false)
	for i := range a.Content {
		if c := &a.Content[i]; c.Type == "diff" {
			passages = append(passages, approval.Passage{Text: describe.Content(c)})
		}
	}
	for _, p := range passages {
		r.linef("  %s", transcript.Reveal(p.Text))
	}
	for i := range a.Tasks {
		title, description := transcript.Reveal(a.Tasks[i].Title), transcript.Reveal(a.Tasks[i].Description)
		r.linef("  task %d: %s%s", i+1, title, ui.Prefixed(": ", description))
	}
	for _, q := range a.Questions {
		r.linef("  question %s: %s", q.ID, transcript.Reveal(q.Text))
		for _, c := range q.Choices {
			r.linef("    %s: %s", c.ID, transcript.Reveal(c.Label))
		}
	}
	kinds := map[protocol.Decision]int{}
	for _, o := range a.Options {
		kinds[o.Kind]++
	}
	for _, o := range a.Options {
		if o.Scope != "" || kinds[o.Kind] > 1 {
			id, label, scope := transcript.Reveal(o.ID), transcript.Reveal(o.Label), transcript.Reveal(o.Scope)
			r.linef("  option %s: %s%s", id, label, ui.Prefixed(": ", scope))
		}
	}
	if a.Expires != nil {
		r.linef("  expires at %s", a.Expires.In(r.zone).Format("15:04:05"))
	}
	r.linef("  waiting for a decision: %s", r.decisionCommands(a))
}

// decisionCommands returns the commands that decide a request. They name the request if several are
// pending.
func (r *renderer) decisionCommands(a *protocol.Approval) string {
	request := ""
	if len(r.state.Approvals) > 1 {
		request = " " + a.Request
	}
	commands := [][2]string{{"/approve"}, {"/always"}, {"/deny", " REASON"}, {"/stop", " REASON"}, {"/explain"}}
	switch {
	case len(a.Questions) > 0:
		answers := ""
		for i := range a.Questions {
			answers += " " + transcript.Reveal(a.Questions[i].ID) + "=TEXT"
		}
		commands = [][2]string{{"/answer", answers}, {"/deny", " REASON"}, {"/stop", " REASON"}}
	case len(a.Tasks) > 0:
		commands = [][2]string{
			{"/approve"},
			{"/keep", " 1 2 for these tasks only"},
			{"/replan", " REASON"},
			{"/deny", " REASON"},
			{"/stop", " REASON"},
			{"/explain"},
		}
	}
	texts := make([]string, len(commands))
	for i, c := range commands {
		texts[i] = c[0] + request + c[1]
	}
	last := len(texts) - 1
	return strings.Join(texts[:last], ", ") + " or " + texts[last]
}

package plain

import (
	"cmp"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/describe"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// Request returns a request in full, as lines of text.
func Request(a *protocol.Approval, zone *time.Location) string {
	r := newRenderer(zone)
	r.writeRequest(a)
	return r.out.String()
}

// writeApproval writes a request in full, and the commands that decide it.
func (r *renderer) writeApproval(a *protocol.Approval) {
	r.writeRequest(a)
	r.linef("  waiting for a decision: %s", r.decisionCommands(a))
}

// writeRequest writes a request in full.
func (r *renderer) writeRequest(a *protocol.Approval) {
	r.linef("approval %s: %s%s", a.Request, a.Kind, ui.Prefixed(", asked ", describe.Asker(a)))
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
	names := a.AnswerNames()
	for i := range a.Questions {
		r.writeQuestion(names[i], &a.Questions[i])
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
}

// writeQuestion writes a question and its choices with their short names, and with their ids if
// those tell more.
func (r *renderer) writeQuestion(name string, q *protocol.Question) {
	text := transcript.Reveal(q.Text)
	r.linef("  question %s%s: %s", name, idSuffix(q.ID, name, q.Text), text)
	for i, name := range q.AnswerNames() {
		c := &q.Choices[i]
		label, about := transcript.Reveal(cmp.Or(c.Label, c.ID)), transcript.Reveal(c.About)
		r.linef("    %s%s: %s%s", name, idSuffix(c.ID, name, cmp.Or(c.Label, c.ID)), label, ui.Prefixed(": ", about))
	}
}

// idSuffix returns an id in parentheses, or "" if it equals the name or the text.
func idSuffix(id, name, text string) string {
	if id == name || id == text {
		return ""
	}
	return " (" + transcript.Reveal(id) + ")"
}

// decisionCommands returns the commands that decide a request: those of its options. They name the
// request if several are pending.
func (r *renderer) decisionCommands(a *protocol.Approval) string {
	request := ""
	if len(r.state.Approvals) > 1 {
		request = " " + a.Request
	}
	var commands []string
	add := func(kind protocol.Decision, command, input string) {
		if a.Offers(kind) {
			commands = append(commands, command+request+ui.Prefixed(" ", input))
		}
	}
	switch {
	case len(a.Questions) == 0:
		add(protocol.AllowOnce, "/approve", "")
	case request == "" && chooses(a):
		commands = append(commands, "the number of a choice")
		add(protocol.AllowOnce, "/answer", "TEXT")
	default:
		add(protocol.AllowOnce, "/answer", transcript.Reveal(a.AnswerExample()))
	}
	if len(a.Tasks) > 1 {
		add(protocol.AllowOnce, "/keep", "1 2")
	}
	add(protocol.AllowAlways, "/always", "")
	add(protocol.Deny, "/deny", "")
	add(protocol.DenyStop, "/stop", "")
	if a.Kind == protocol.ApprovePlan {
		add(protocol.Deny, "/replan", "REASON")
	}
	add(protocol.Explain, "/explain", "")
	last := len(commands) - 1
	if last <= 0 {
		return strings.Join(commands, "")
	}
	return strings.Join(commands[:last], ", ") + " or " + commands[last]
}

// chooses reports whether a request asks one question whose answer is one of its choices, so that
// the number of the choice alone answers it.
func chooses(a *protocol.Approval) bool {
	return len(a.Questions) == 1 && !a.Questions[0].Many && len(a.Questions[0].Choices) > 0 &&
		a.Offers(protocol.AllowOnce)
}

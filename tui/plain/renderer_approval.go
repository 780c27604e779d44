package plain

import (
	"strings"

	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/describe"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// approval tells a request whole, and how to answer it.
func (n *renderer) approval(a *protocol.Approval) {
	n.line("approval %s: %s", a.Request, a.Kind)
	said := approval.Passages(a, false)
	for i := range a.Content {
		if c := &a.Content[i]; c.Type == "diff" {
			said = append(said, approval.Passage{Text: describe.Content(c)})
		}
	}
	for _, p := range said {
		n.line("  %s", transcript.Reveal(p.Text))
	}
	for i := range a.Tasks {
		n.line("  task %d: %s%s", i+1, transcript.Reveal(a.Tasks[i].Title), ui.Prefixed(": ", transcript.Reveal(a.Tasks[i].Description)))
	}
	for _, q := range a.Questions {
		n.line("  question %s: %s", q.ID, transcript.Reveal(q.Text))
		for _, c := range q.Choices {
			n.line("    %s: %s", c.ID, transcript.Reveal(c.Label))
		}
	}
	kinds := map[protocol.Decision]int{}
	for _, o := range a.Options {
		kinds[o.Kind]++
	}
	for _, o := range a.Options {
		if o.Scope != "" || kinds[o.Kind] > 1 {
			n.line("  option %s: %s%s", transcript.Reveal(o.ID), transcript.Reveal(o.Label), ui.Prefixed(": ", transcript.Reveal(o.Scope)))
		}
	}
	if a.Expires != nil {
		n.line("  expires at %s", a.Expires.In(n.zone).Format("15:04:05"))
	}
	n.line("  waiting for a decision: %s", n.commandsFor(a))
}

// commandsFor are the commands that decide a request, which is named when others wait
// too.
func (n *renderer) commandsFor(a *protocol.Approval) string {
	name := ""
	if len(n.state.Approvals) > 1 {
		name = " " + a.Request
	}
	ways := [][2]string{{"/approve"}, {"/always"}, {"/deny", " REASON"}, {"/stop", " REASON"}, {"/explain"}}
	switch {
	case len(a.Questions) > 0:
		given := ""
		for i := range a.Questions {
			given += " " + transcript.Reveal(a.Questions[i].ID) + "=TEXT"
		}
		ways = [][2]string{{"/answer", given}, {"/deny", " REASON"}, {"/stop", " REASON"}}
	case len(a.Tasks) > 0:
		ways = [][2]string{{"/approve"}, {"/keep", " 1 2 for those tasks alone"}, {"/replan", " REASON"}, {"/deny", " REASON"}, {"/stop", " REASON"}, {"/explain"}}
	}
	words := make([]string, len(ways))
	for i, w := range ways {
		words[i] = w[0] + name + w[1]
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

package tui

import (
	"fmt"

	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// decision is an approval in the transcript: what was asked, and who decided
// what.
type decision struct {
	landmark
	look *look
	item *protocol.Item
}

func (d *decision) Estimate(int, bool) int { return 3 }

func (d *decision) Block(width int, _ bool) transcript.Block {
	title := "approval " + d.item.ID
	var command string
	if a := d.item.Approval; a != nil {
		title, command = a.Title, a.Command
	}
	if d.item.Resolved == nil {
		waits := d.look.warn.Render(" · waiting for a decision")
		title = fit("? "+oneLine(transcript.Reveal(title)), max(1, width-1-ansi.StringWidth(waits)))
		return transcript.Block{Header: []string{"", " " + d.look.bold.Render(title) + waits}}
	}
	b := transcript.Block{Header: []string{"", " " + d.look.bold.Render(fit("? "+oneLine(transcript.Reveal(title)), width-1))}}
	if command != "" && command != title {
		b.Header = append(b.Header, "   "+d.look.dim.Render(fit("$ "+oneLine(transcript.Reveal(command)), width-indent)))
	}
	style := d.look.bad
	if d.item.Resolved.Outcome == protocol.Allowed {
		style = d.look.good
	}
	text := transcript.NewText()
	text.Append(outcome(d.item.Resolved, d.item.By))
	b.Body, b.Bytes = text.Lines(width - indent)
	b.RenderLine = func(line string) string { return "   " + style.Render(line) }
	return b
}

// outcome says how an approval stands: "✓ allowed · decided by ada · why".
func outcome(r *protocol.ApprovalResolvedData, by *protocol.Actor) string {
	s := map[protocol.Outcome]string{
		protocol.Allowed:   "✓ allowed",
		protocol.Denied:    "✗ denied",
		protocol.Expired:   "✗ expired: nobody decided in time",
		protocol.Cancelled: "⊘ cancelled",
	}[r.Outcome]
	if s == "" {
		s = string(r.Outcome)
	}
	switch r.Decision {
	case protocol.AllowAlways:
		s += " always"
		if r.Rule != nil {
			s += " (" + r.Rule.Scope + ")"
		}
	case protocol.DenyStop:
		s += " and stopped"
	}
	switch {
	case r.ByRule != "":
		s += " · by rule " + r.ByRule
	case by != nil:
		s += fmt.Sprintf(" · decided by %s", by.Name)
	}
	if r.Reason != "" {
		s += " · " + r.Reason
	}
	return s
}

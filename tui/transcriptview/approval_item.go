package transcriptview

import (
	"cmp"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// approvalItem shows an approval: the request and, once resolved, the outcome and its author.
type approvalItem struct {
	itemAnchor
	styles *ui.Styles
}

// moreColumns is the room for the number of characters left out of a line.
const moreColumns = 26

// Estimate implements transcript.Item.
func (a *approvalItem) Estimate(int, bool) int { return 3 }

// Block implements transcript.Item.
func (a *approvalItem) Block(width int, _ bool) transcript.Block {
	title := "approval " + a.item.ID
	var action string
	if approval := a.item.Approval; approval != nil {
		title = cmp.Or(strings.TrimSpace(approval.Title), approval.Name, approval.Kind)
		if !strings.Contains(title, approval.Name) { // the title is the agent's word for it
			title = approval.Name + keymap.Separator + title
		}
		if approval.Command != approval.Title {
			action = approval.Action()
		} else if rest, _ := approval.RestArguments(); rest != "" {
			action = rest
		}
		if approval.Command != "" && action != "" {
			action = "$ " + action
		}
	}
	label := "? " + format.JoinLines(transcript.Reveal(title))
	if a.item.Resolved == nil {
		suffix := a.styles.Warning.Render(" · waiting for a decision")
		label = ui.Fit(label, max(1, width-1-ansi.StringWidth(suffix)))
		return transcript.Block{Header: []string{"", " " + a.styles.Bold.Render(label) + suffix}}
	}
	b := transcript.Block{Header: []string{"", " " + a.styles.Bold.Render(ui.Fit(label, width-1))}}
	if action != "" {
		line := describe.Line(action, 0)
		if room := width - ui.Indent; ansi.StringWidth(line) > room {
			line = ui.Fit(describe.Line(action, max(1, room-moreColumns)), room)
		}
		b.Header = append(b.Header, "   "+line)
	}
	style := a.styles.Error
	if a.item.Resolved.Outcome == protocol.Allowed {
		style = a.styles.Success
	}
	when := ""
	if at := a.item.Resolved.At; at != nil {
		when = a.styles.Clock(*at)
	}
	b.Body = ui.Wrap(describe.Outcome(a.item.Approval, a.item.Resolved, a.item.By, when), width-ui.Indent)
	b.RenderLine = func(line string) string { return "   " + style.Render(line) }
	return b
}

package transcriptview

import (
	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// approvalItem shows an approval: the request and, once resolved, the outcome and its author.
type approvalItem struct {
	itemAnchor
	styles *ui.Styles
	item   *protocol.Item
}

// Estimate implements transcript.Item.
func (a *approvalItem) Estimate(int, bool) int { return 3 }

// Block implements transcript.Item.
func (a *approvalItem) Block(width int, _ bool) transcript.Block {
	title := "approval " + a.item.ID
	var command string
	if approval := a.item.Approval; approval != nil {
		title, command = approval.Title, approval.Command
	}
	label := "? " + ui.OneLine(transcript.Reveal(title))
	if a.item.Resolved == nil {
		suffix := a.styles.Warning.Render(" · waiting for a decision")
		label = ui.Fit(label, max(1, width-1-ansi.StringWidth(suffix)))
		return transcript.Block{Header: []string{"", " " + a.styles.Bold.Render(label) + suffix}}
	}
	b := transcript.Block{Header: []string{"", " " + a.styles.Bold.Render(ui.Fit(label, width-1))}}
	if command != "" && command != title {
		line := ui.Fit("$ "+ui.OneLine(transcript.Reveal(command)), width-ui.Indent)
		b.Header = append(b.Header, "   "+a.styles.Dim.Render(line))
	}
	style := a.styles.Error
	if a.item.Resolved.Outcome == protocol.Allowed {
		style = a.styles.Success
	}
	text := transcript.NewText()
	text.Append(describe.Outcome(a.item.Resolved, a.item.By))
	b.Body, b.Bytes = text.Lines(width - ui.Indent)
	b.RenderLine = func(line string) string { return "   " + style.Render(line) }
	return b
}

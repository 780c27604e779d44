package transcriptview

import (
	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// approvalItem is an approval in the transcript: what was asked, and who decided
// what.
type approvalItem struct {
	itemAnchor
	styles *ui.Styles
	item   *protocol.Item
}

func (d *approvalItem) Estimate(int, bool) int { return 3 }

func (d *approvalItem) Block(width int, _ bool) transcript.Block {
	title := "approval " + d.item.ID
	var command string
	if a := d.item.Approval; a != nil {
		title, command = a.Title, a.Command
	}
	if d.item.Resolved == nil {
		waits := d.styles.Warning.Render(" · waiting for a decision")
		title = ui.Fit("? "+ui.OneLine(transcript.Reveal(title)), max(1, width-1-ansi.StringWidth(waits)))
		return transcript.Block{Header: []string{"", " " + d.styles.Bold.Render(title) + waits}}
	}
	b := transcript.Block{Header: []string{"", " " + d.styles.Bold.Render(ui.Fit("? "+ui.OneLine(transcript.Reveal(title)), width-1))}}
	if command != "" && command != title {
		b.Header = append(b.Header, "   "+d.styles.Dim.Render(ui.Fit("$ "+ui.OneLine(transcript.Reveal(command)), width-ui.Indent)))
	}
	style := d.styles.Error
	if d.item.Resolved.Outcome == protocol.Allowed {
		style = d.styles.Success
	}
	text := transcript.NewText()
	text.Append(describe.Outcome(d.item.Resolved, d.item.By))
	b.Body, b.Bytes = text.Lines(width - ui.Indent)
	b.RenderLine = func(line string) string { return "   " + style.Render(line) }
	return b
}

package dashboard

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

// lines returns exactly rows lines for the selected session, which may be the zero value.
func (p *preview) lines(summary *protocol.Summary, width, rows int) []string {
	if rows < 1 {
		return nil
	}
	s := p.styles
	title := s.Bold.Render("preview")
	if summary.Session != "" {
		title += " · " + sessionName(summary)
	}
	out := []string{s.Rule(title, width)}
	refused := p.requests.refuse(summary.Session)
	switch open, state := p.open.Transcript(summary.Session); {
	case summary.Session == "":
	case open != nil:
		end := p.end.lines(summary, state, width, rows-1)
		out = append(append(out, lastLines(open, width, rows-1-len(end))...), end...)
	case p.session != summary.Session && refused != nil:
		lines := ui.Wrap(ui.Excerpt(refused.Error()), width-2)
		for _, line := range lines[:min(len(lines), rows-1)] {
			out = append(out, s.Error.Render(" "+line))
		}
	case p.session != summary.Session || p.content.view == nil && p.err == "":
		out = append(out, s.Dim.Render(ui.Fit(" …", width)))
	default:
		var status []string
		if p.err != "" && rows > 1 {
			status = append(status, s.Error.Render(ui.Fit(" "+ui.Excerpt(p.err), width)))
		}
		status = append(status, p.end.lines(summary, p.content.state, width, rows-1-len(status))...)
		if p.content.view != nil {
			out = append(out, lastLines(p.content.view, width, rows-1-len(status))...)
		}
		out = append(out, status...)
	}
	for len(out) < rows {
		out = append(out, "")
	}
	return out
}

// lastLines returns the last lines of a transcript, at most rows, without empty ones below.
func lastLines(view *transcriptview.View, width, rows int) []string {
	if rows < 1 || view.Empty() {
		return nil
	}
	lines := view.List.Tail(width, rows)
	for len(lines) > 0 && strings.TrimSpace(ansi.Strip(lines[len(lines)-1])) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

package dashboard

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

// lines returns exactly rows lines for the selected session, which may be the zero value.
func (p *preview) lines(summary *protocol.Summary, width, rows int) []string {
	if rows < 1 {
		return nil
	}
	if p.scrolled.session != summary.Session {
		p.scrolled.session, p.scrolled.lines = summary.Session, 0
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
		out = append(append(out, p.transcript(open, width, rows-1-len(end))...), end...)
	case p.session != summary.Session && refused != nil:
		lines := ui.Wrap(ui.Excerpt(refused.Error()), width-2)
		for _, line := range lines[:min(len(lines), rows-1)] {
			out = append(out, s.Error.Render(" "+line))
		}
	case p.session != summary.Session || p.content.view == nil && p.err == "":
		out = append(out, s.Dim.Render(ui.Fit(" …", width)))
	default:
		status := p.statusLines(s, width)
		status = status[:min(len(status), rows-1)]
		status = append(status, p.end.lines(summary, p.content.state, width, rows-1-len(status))...)
		if p.content.view != nil {
			out = append(out, p.transcript(p.content.view, width, rows-1-len(status))...)
		}
		out = append(out, status...)
	}
	for len(out) < rows {
		out = append(out, "")
	}
	return out
}

// transcript returns lines of a transcript, at most rows: the last ones, without empty ones below, or
// those before where the preview is scrolled to.
func (p *preview) transcript(view *transcriptview.View, width, rows int) []string {
	if rows < 1 || view.Empty() {
		return nil
	}
	lines := view.List.Tail(width, rows+p.scrolled.lines)
	p.scrolled.lines = max(0, min(p.scrolled.lines, len(lines)-rows))
	lines = lines[:len(lines)-p.scrolled.lines]
	lines = lines[max(0, len(lines)-rows):]
	for len(lines) > 0 && strings.TrimSpace(ansi.Strip(lines[len(lines)-1])) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// statusLines returns the lines below the transcript: the error of the last peek and the number of
// queued messages.
func (p *preview) statusLines(s *ui.Styles, width int) []string {
	var out []string
	if p.err != "" {
		out = append(out, s.Error.Render(ui.Fit(" "+ui.Excerpt(p.err), width)))
	}
	if p.content.state == nil || len(p.content.state.Queue) == 0 {
		return out
	}
	line := " +" + format.Count(len(p.content.state.Queue), "queued message")
	if p.content.state.BlockingHold() != nil {
		line += ", held"
	}
	return append(out, s.Dim.Render(ui.Fit(line, width)))
}

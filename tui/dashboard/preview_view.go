package dashboard

import (
	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

// previewLines returns rows lines.
func (d *Dashboard) previewLines(width, rows int) []string {
	if rows < 1 {
		return nil
	}
	l, p := d.Styles, &d.preview
	s, ok := d.current()
	title := l.Bold.Render("preview")
	if ok {
		title += " · " + sessionName(&s)
	}
	out := []string{l.Rule(title, width)}
	switch open := d.Open.Transcript(s.Session); {
	case !ok:
	case open != nil:
		out = append(out, transcriptTail(open, width, rows-1)...)
	case p.session != s.Session || p.content.view == nil && p.err == "":
		out = append(out, l.Dim.Render(ui.Fit(" …", width)))
	default:
		after := p.statusLines(l, width)
		after = after[:min(len(after), rows-1)]
		if p.content.view != nil {
			out = append(out, transcriptTail(p.content.view, width, rows-1-len(after))...)
		}
		out = append(out, after...)
	}
	for len(out) < rows {
		out = append(out, "")
	}
	return out
}

// transcriptTail returns the end of a transcript.
func transcriptTail(view *transcriptview.View, width, rows int) []string {
	if rows < 1 || view.Empty() {
		return nil
	}
	return view.List.Tail(width, rows)
}

// statusLines returns the lines below the transcript: the error of the last peek, and the queue.
func (p *preview) statusLines(l *ui.Styles, width int) []string {
	var out []string
	if p.err != "" {
		out = append(out, l.Error.Render(ui.Fit(" "+ui.OneLine(transcript.Clean(p.err)), width)))
	}
	if p.content.state == nil || len(p.content.state.Queue) == 0 {
		return out
	}
	line := " +" + ui.Count(len(p.content.state.Queue), "queued message")
	if p.content.state.BlockingHold() != nil {
		line += ", held"
	}
	return append(out, l.Dim.Render(ui.Fit(line, width)))
}

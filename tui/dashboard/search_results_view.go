package dashboard

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// hitDateWidth is the width, in cells, from which a hit shows its date.
const hitDateWidth = 60

// snippetRows is the number of lines for the selected hit below the list.
const snippetRows = 2

// View returns height lines: the hits, the selected hit in full width, and the keys.
func (r *searchResults) View(width, height int) ([]string, *tea.Cursor) {
	more := 0
	if height >= 10 {
		more = snippetRows + 1
	}
	rows := max(0, height-ui.PageFrame-more)
	out := r.Lines(width, rows)
	if r.hits.err != "" {
		for _, line := range ui.Wrap(transcript.Clean(r.hits.err), width-2) {
			out = append(out, r.styles.Error.Render(" "+line))
		}
	}
	if more > 0 {
		out = append(ui.Rows(out, rows), r.snippet(width)...)
	}
	out = r.styles.Page(r.title(), out, r.footer(width), width, height)
	if r.input != nil {
		return out, ui.InputCursor(ui.FindLabel, r.input, height-1)
	}
	return out, nil
}

// row returns the line of a hit: session, time, kind and text.
func (r *searchResults) row(h *protocol.Hit, width int, selected bool) string {
	s := r.styles
	name := ui.Pad(r.sessionName(h.Session), max(min(width/5, 24), 10))
	kind := ui.Pad(describe.HitKinds[h.Kind], len("reasoning")) + " "
	if width >= hitDateWidth {
		kind = s.Date(h.Time) + " " + kind
	}
	text := ui.Excerpt(strings.TrimSpace(h.Snippet))
	if selected {
		return s.Selected.Render(ui.Spread("▸"+name+" "+kind+text, "", width))
	}
	head := " " + s.Bold.Render(name) + " " + s.Dim.Render(kind)
	return head + s.Highlight(ui.Fit(text, max(1, width-transcript.Width(head))), r.query)
}

func (r *searchResults) sessionName(session string) string {
	if summary, ok := r.list.Get(session); ok {
		return sessionName(&summary)
	}
	return ui.ShortID(session)
}

// snippet returns snippetRows lines of the selected hit, below a rule.
func (r *searchResults) snippet(width int) []string {
	out := []string{r.styles.Rule("", width)}
	if h, ok := r.Selected(); ok {
		lines := ui.Wrap(transcript.Clean(strings.TrimSpace(h.Snippet)), width-2)
		for _, line := range lines[:min(len(lines), snippetRows)] {
			out = append(out, " "+r.styles.Highlight(line, r.query))
		}
	}
	return ui.Rows(out, snippetRows+1)
}

// footer returns the last line: the search input, a notice or the keys.
func (r *searchResults) footer(width int) string {
	s := r.styles
	if r.input != nil {
		return s.InputLine(ui.FindLabel, r.input, width)
	}
	if notice := r.notice(); notice != "" {
		return notice
	}
	return s.HintRow(s.Keys.Hint(keymap.Choose, "open", keymap.ListFind, "new search"),
		s.Keys.Hint(keymap.Back, "back"), width)
}

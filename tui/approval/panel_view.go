package approval

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

// edgeRows is the number of rows of a panel beside the request and the form.
const edgeRows = 3

// View returns at most rows lines, and the cursor while a text row is edited. It records which
// lines of the request were shown. The selected row of the form is always visible.
func (p *Panel) View(width, rows int, focused bool) ([]string, *tea.Cursor) {
	drawn := &p.decider.drawn
	drawn.reset()
	r, f := p.requests.current()
	if r == nil || rows < 1 {
		return nil, nil
	}
	if focused {
		p.decider.guard.Drawn(p.styles.Now())
	}
	c, sides := &f.card, frame{p.styles, width, focused, p.open}
	c.update(p.styles, f.shown(r), f.options, width)
	form, at := f.lines(max(0, width-frameWidth), focused, p.decider.offline)
	room := max(0, rows-edgeRows)
	if c.inForm+len(form) > room {
		form, at = withoutGaps(form, at)
	}
	request := c.excerpt(max(room-len(form), min(room/2+1, room)))
	all, selected := form, at
	form, at = ui.Window(form, at, room-len(request))
	c.markRowsSeen(all, form)
	out := []string{sides.rule(p.title.line(r, f, p.requests.place()), topEdge)}
	for _, line := range c.excerptLines(p.styles, request, focused && !f.Typing()) {
		out = append(out, sides.line(line))
	}
	c.markExcerptSeen(request)
	if left := notShown(selected-at, len(all)-len(form)); len(form) > 0 && (len(request) > 0 || left != "") {
		out = append(out, sides.rule(left, middleEdge))
	}
	cursorRow := len(out) + at
	drawn.set(len(out), form)
	for _, line := range form {
		out = append(out, sides.line(line.text))
	}
	hint := p.decider.hint(r, f, focused, len(p.requests.pending) > 1)
	out = append(out, sides.rule(ui.FitHints(hint, width-frameWidth-2), bottomEdge))
	out = out[:min(len(out), rows)]
	drawn.cut(len(out))
	if !f.Typing() || cursorRow >= len(out) {
		return out, nil
	}
	return out, f.cursor(cursorRow)
}

// notShown returns how many lines of a form are left out above and in total, or returns "".
func notShown(above, total int) string {
	var out []string
	if above > 0 {
		out = append(out, fmt.Sprintf("⋯ %d above", above))
	}
	if below := total - above; below > 0 {
		out = append(out, fmt.Sprintf("⋯ %d below", below))
	}
	return strings.Join(out, keymap.Separator)
}

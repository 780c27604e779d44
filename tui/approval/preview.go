package approval

import (
	"agentctl/protocol"
	"agentctl/tui/ui"
)

// Preview draws a pending request read only: its card, without the form that decides it. It keeps the
// layout of the last drawing.
type Preview struct {
	styles *ui.Styles
	form   *Form
}

// NewPreview returns a preview without a request.
func NewPreview(s *ui.Styles) *Preview { return &Preview{styles: s} }

// View draws a request of a session with the directory dir in at most rows lines. above reports that the
// line above has the title of the request. hint is the text of the lower edge, such as the key that decides
// the request.
func (p *Preview) View(r *protocol.Approval, dir, hint string, above bool, width, rows int) []string {
	if p.form == nil || p.form.request != r.Request || p.form.card.directory != dir || p.form.card.above != above {
		p.form = NewForm(p.styles, r)
		p.form.card.directory, p.form.card.above, p.form.card.readOnly = dir, above, true
	}
	if rows < edgeRows {
		return nil
	}
	c, sides := &p.form.card, frame{styles: p.styles, width: width}
	c.update(p.styles, r, p.form.options, width)
	t := title{styles: p.styles}
	out := []string{sides.rule(t.line(r, p.form, ""), topEdge)}
	for _, line := range c.excerptLines(p.styles, c.excerpt(rows-2), false) {
		out = append(out, sides.line(line))
	}
	return append(out, sides.rule(p.styles.Dim.Render(ui.FitHints(hint, width-frameWidth-2)), bottomEdge))
}

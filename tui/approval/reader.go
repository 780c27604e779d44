package approval

import (
	"agentctl/protocol"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// newReader returns a pager with the whole request. It records which lines were on the screen.
func newReader(s *ui.Styles, f *Form, r *protocol.Approval, title string) ui.Overlay {
	request := *r // the list of pending requests changes in place
	item := &requestItem{f, f.shown(&request)}
	pager := ui.NewPager(s, title, item)
	pager.Shown = func(width, from, to int) {
		item.update(width)
		f.card.markSeen(from, to)
	}
	return pager
}

// requestItem is a request as an item of a pager.
type requestItem struct {
	form    *Form
	request *protocol.Approval
}

func (i *requestItem) update(width int) {
	i.form.card.update(i.form.styles, i.request, i.form.options, width)
}

// Estimate implements transcript.Item.
func (i *requestItem) Estimate(int, bool) int { return len(i.form.card.lines) }

// Block implements transcript.Item.
func (i *requestItem) Block(width int, _ bool) transcript.Block {
	i.update(width)
	sides := frame{styles: i.form.styles, width: width, focused: true}
	lines := make([]string, len(i.form.card.lines))
	for at := range lines {
		lines[at] = sides.line(i.form.card.lines[at].render(i.form.styles))
	}
	return transcript.Block{Body: lines}
}

package approval

import (
	"cmp"

	"agentctl/protocol"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// view returns an overlay with the whole request: the review of its changes, or a pager. note is
// the reason why it opens, or "".
func (p *Panel) view(f *Form, r *protocol.Approval, note string) ui.Overlay {
	f.card.update(f.styles, f.editedRequest(r), f.options, max(f.card.key.width, minWidth))
	if f.card.changes.Changes != nil {
		p.rearm()
		return newPatchReview(p, f, r, note)
	}
	return p.newReader(f, r, cmp.Or(note, "the whole request"))
}

// newReader returns a pager with the whole request. It records which lines were on the screen.
func (p *Panel) newReader(f *Form, r *protocol.Approval, title string) ui.Overlay {
	request := *r // the list of pending requests changes in place
	item := &requestItem{f, f.editedRequest(&request)}
	pager := ui.NewPager(p.styles, title, item)
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
	lines := make([]string, len(i.form.card.lines))
	for at := range lines {
		lines[at] = frameLine(i.form.styles, i.form.card.lines[at].render(i.form.styles), width, true)
	}
	return transcript.Block{Body: lines}
}

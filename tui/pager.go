package tui

import (
	"fmt"

	"agentctl/tui/transcript"
)

// pager is one long item on a screen of its own.
type pager struct {
	look  *look
	title string
	list  *transcript.List
}

// leaf is a text as the pager's only item.
type leaf struct {
	look *look
	text *transcript.Text
}

func (l leaf) Estimate(width int, _ bool) int { return l.text.Estimate(width) }

func (l leaf) Block(width int, _ bool) transcript.Block {
	body, bytes := l.text.Lines(width)
	return transcript.Block{Body: body, Bytes: bytes, Draw: l.look.diff}
}

func newPager(l *look, title string, of transcript.Source) *pager {
	p := &pager{look: l, title: title, list: transcript.NewList(cacheBytes)}
	p.list.Append(of, false)
	p.list.Top()
	return p
}

// key scrolls; it is false for the keys that leave.
func (p *pager) key(key string) bool {
	page := max(1, p.list.Height()-1)
	switch p.look.keys.in(inPager, key) {
	case doBack, doLeavePager:
		return false
	case doUp:
		p.list.Scroll(-1)
	case doDown:
		p.list.Scroll(1)
	case doScreenUp:
		p.list.Scroll(-page)
	case doScreenDown:
		p.list.Scroll(page)
	case doFirst:
		p.list.Top()
	case doLast:
		p.list.Bottom()
	}
	return true
}

func (p *pager) Render(width, height int) []string {
	p.list.Resize(width, max(1, height-1))
	lines := p.list.Lines()
	above, total := p.list.Position()
	right := fmt.Sprintf(" %d/%d · q back", min(total, above+p.list.Height()), total)
	return append(lines, p.look.chosen.Render(spread(" "+p.title, right, width)))
}

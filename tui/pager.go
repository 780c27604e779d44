package tui

import (
	"fmt"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// pager is one long item on a screen of its own, in parts that are laid out when
// they come on the screen.
type pager struct {
	look  *look
	title string
	list  *transcript.List
	input *textinput.Model // while words to find are written
	text  string           // the words, as they were written
	query *protocol.Query  // nil: nothing is looked for
	word  string           // what came of finding them
	found bool             // at a line of an item, and the screen was not scrolled since
	at    transcript.ID
	line  int
}

// leaf is a text as an item of a pager.
type leaf struct {
	look *look
	text *transcript.Text
	draw func(...string) string // nil: as it is
}

func (l leaf) Estimate(width int, _ bool) int { return l.text.Estimate(width) }

func (l leaf) Block(width int, _ bool) transcript.Block {
	body, bytes := l.text.Lines(width)
	b := transcript.Block{Body: body, Bytes: bytes}
	if l.draw != nil {
		b.RenderLine = func(line string) string { return l.draw(line) }
	}
	return b
}

func newPager(l *look, title string, of ...transcript.Item) *pager {
	p := &pager{look: l, title: title, list: transcript.NewList(cacheBytes)}
	for _, s := range of {
		p.list.Append(s, false)
	}
	p.list.ScrollToTop()
	return p
}

// key scrolls and finds; it is false for the keys that leave.
func (p *pager) key(key string, msg tea.KeyPressMsg) bool {
	if p.input != nil {
		p.writes(key, msg)
		return true
	}
	p.word = ""
	page := max(1, p.list.Height()-1)
	do := p.look.keys.in(inPager, key)
	p.found = p.found && (do == doNextInPager || do == doPreviousInPager)
	switch do {
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
		p.list.ScrollToTop()
	case doLast:
		p.list.ScrollToBottom()
	case doFindInPager:
		p.ask()
	case doNextInPager:
		p.next(1)
	case doPreviousInPager:
		p.next(-1)
	case doSides:
		p.look.toggle()
		p.list.Restyle()
	}
	return true
}

// show makes the pager the whole screen.
func (p *pager) show(v *tea.View, width, height int) {
	v.SetContent(p.look.frame(p.Render(width, height), width, height))
	if p.input != nil && p.cursor() < width {
		v.Cursor = tea.NewCursor(p.cursor(), height-1)
	}
}

func (p *pager) Render(width, height int) []string {
	p.list.Resize(width, max(1, height-1))
	lines := p.list.Lines()
	above, total := p.list.Position()
	left, right := " "+p.title, fmt.Sprintf(" %d/%d · %s", min(total, above+p.list.Height()), total, p.look.keys.hint(doFindInPager, "find", doBack, "back"))
	switch {
	case p.input != nil:
		p.input.SetWidth(max(1, width-len(findLabel)-1))
		return append(lines, fit(p.look.key.Render(findLabel)+p.input.View(), width))
	case p.word != "":
		left = " " + p.word
	}
	return append(lines, p.look.chosen.Render(spread(left, right, width)))
}

package ui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
)

// CacheBytes is the limit in bytes of the rendered lines that a list of items caches.
const CacheBytes = 8 << 20

// Pager is an overlay that shows a long text. The text is split into items that are rendered when
// they become visible.
type Pager struct {
	styles  *Styles
	title   string
	list    *transcript.List
	search  Search
	message string // of the last search

	// More shows more of the text for the keys of the help, and reports whether it did. It may be nil.
	More func() bool

	// The current match. Keys other than those of the next and previous match clear matched.
	matched bool
	match   transcript.Point
}

// NewPager returns a pager at the start of the items.
func NewPager(s *Styles, title string, items ...transcript.Item) *Pager {
	p := &Pager{styles: s, title: title, list: transcript.NewList(CacheBytes)}
	for _, item := range items {
		p.list.Append(item, false)
	}
	p.list.ScrollToTop()
	p.search = NewSearch(s, p.list)
	return p
}

// Scope returns the scope of pagers.
func (p *Pager) Scope() keymap.Scope { return keymap.Pager }

// FullScreen returns true.
func (p *Pager) FullScreen() bool { return true }

// Update scrolls and searches.
func (p *Pager) Update(msg tea.Msg) Response {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if !p.search.Typing() {
			return p.handleKey(msg.String())
		}
		r, entered := p.search.Press(msg)
		if entered {
			p.find(0)
		}
		return r
	case tea.PasteMsg:
		p.search.Paste(msg.Content)
	case tea.MouseWheelMsg:
		p.list.Scroll(WheelRows(msg))
	case RestyleMsg:
		p.list.Restyle()
	}
	return Response{}
}

// handleKey handles a key outside of a search input.
func (p *Pager) handleKey(key string) Response {
	p.message = ""
	page := max(1, p.list.Height()-1)
	action := p.styles.Keys.InList(keymap.Pager, key)
	p.matched = p.matched && (action == keymap.NextMatch || action == keymap.PreviousMatch)
	if p.styles.Keys.At(keymap.Global, key) == keymap.Help {
		action = keymap.ListHelp
	}
	switch action {
	case keymap.ListHelp:
		if p.More == nil || !p.More() {
			return Response{Close: true}
		}
		p.list.Restyle()
		p.list.ScrollToTop()
	case keymap.Back, keymap.ViewWhole, keymap.Choose:
		return Response{Close: true}
	case keymap.Up:
		p.list.Scroll(-1)
	case keymap.Down:
		p.list.Scroll(1)
	case keymap.PageUp:
		p.list.Scroll(-page)
	case keymap.PageDown, keymap.PagerPageDown:
		p.list.Scroll(page)
	case keymap.First:
		p.list.ScrollToTop()
	case keymap.Last:
		p.list.ScrollToBottom()
	case keymap.ListFind:
		p.search.Open()
	case keymap.NextMatch:
		p.find(1)
	case keymap.PreviousMatch:
		p.find(-1)
	case keymap.DiffLayout:
		p.styles.ToggleDiffLayout()
		p.list.Restyle()
	}
	return Response{}
}

// find shows the next (1) or previous (-1) match. Without a current match it starts at the first line on
// the screen. If by is 0, it searches forward and includes that line.
func (p *Pager) find(by int) {
	item, line := p.list.TopLine()
	from := transcript.Point{Item: item, Line: line}
	if p.matched {
		from = p.match
	}
	var ok bool
	if from, p.message, ok = p.search.Find(from, by); ok {
		p.matched, p.match = true, from
		p.list.SetTopLine(from.Item, from.Line)
	}
}

// View returns the text below a title with the position.
func (p *Pager) View(width, height int) ([]string, *tea.Cursor) {
	s := p.styles
	p.list.Resize(width, max(1, height-PageFrame))
	lines := p.list.Lines()
	above, total := p.list.Position()
	position := fmt.Sprintf(" %d/%d", min(total, above+p.list.Height()), total)
	title := s.Bold.Render(Fit(p.title, width-4-len(position))) + s.Dim.Render(position)
	var last string
	var cursor *tea.Cursor
	switch {
	case p.search.Typing():
		last, cursor = p.search.Line(width, height-1)
	case p.message != "":
		last = s.Warning.Render(Fit(" "+p.message, width))
	default:
		last = s.HintRow(s.Keys.Hint(keymap.ListFind, "find"), s.Keys.Hint(keymap.Back, "back"), width)
	}
	return s.Page(title, lines, last, width, height), cursor
}

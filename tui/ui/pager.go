package ui

import (
	"fmt"
	"math"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
)

// CacheBytes is the limit in bytes of the rendered lines that a list of items caches.
const CacheBytes = 8 << 20

// FindLabel is the prompt of a search.
const FindLabel = " find: "

// Pager is an overlay that shows a long text. The text is split into items that are rendered when
// they become visible.
type Pager struct {
	styles     *Styles
	title      string
	list       *transcript.List
	input      *TextInput      // nil unless a search is being typed
	searchText string          // the last search, as typed
	query      *protocol.Query // nil if there is no search
	searching  bool            // the next View shows the first match
	message    string          // the error of the last search

	// More shows more of the text for the keys of the help, and reports whether it did. It may be nil.
	More func() bool

	// Shown is called with the width and the range of the lines that View draws. It may be nil, and
	// needs a pager of one item.
	Shown func(width, from, to int)

	// The current match. Keys other than those of the next and previous match clear matched.
	matched bool
	item    transcript.ID
	line    int
}

// NewPager returns a pager at the start of the items.
func NewPager(s *Styles, title string, items ...transcript.Item) *Pager {
	p := &Pager{styles: s, title: title, list: transcript.NewList(CacheBytes)}
	for _, item := range items {
		p.list.Append(item, false)
	}
	p.list.ScrollToTop()
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
		if p.input != nil {
			return p.editSearch(msg)
		}
		return p.handleKey(msg.String())
	case tea.PasteMsg:
		if p.input != nil {
			p.input.Paste(msg.Content)
		}
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
		p.input = p.styles.NewTextInput(p.searchText)
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

// editSearch handles a key while a search is typed.
func (p *Pager) editSearch(msg tea.KeyPressMsg) Response {
	switch p.styles.FieldAction(msg) {
	case keymap.Back:
		p.input, p.query = nil, nil
		p.list.SetHighlight(nil)
	case keymap.Choose:
		p.Search(p.input.Value())
		p.input = nil
	default:
		return p.input.Press(msg)
	}
	return Response{}
}

// Search shows the first match of a text from the first line on the screen. A text that is empty or too
// long ends the search.
func (p *Pager) Search(text string) {
	p.searchText = transcript.CleanLine(text)
	p.query, _ = protocol.ParseQuery(p.searchText)
	p.list.SetHighlight(nil)
	if p.searching = p.query != nil; p.searching {
		p.list.SetHighlight(func(line string) string { return p.styles.Highlight(line, p.query) })
	}
}

// find moves to the first match after (1) or before (-1) the current match. Without a current match
// it starts at the first line on the screen. If by is 0, it searches forward and includes that
// line.
func (p *Pager) find(by int) {
	p.searching = false
	if p.query == nil {
		return
	}
	match := func(line string) bool { return p.query.Match(ansi.Strip(line)) }
	item, line := p.list.TopLine()
	if p.matched {
		item, line = p.item, p.line
	}
	step, from := by|1, line+by // step is 1 or -1
	for ; item >= p.list.First() && item <= p.list.Last(); item += transcript.ID(step) {
		if c, ok := p.list.Item(item).(*chunk); !ok || p.query.Match(c.raw) {
			if line, ok := p.list.FindLine(item, from, step, match); ok {
				p.matched, p.item, p.line = true, item, line
				p.list.SetTopLine(item, line)
				return
			}
		}
		if from = 0; step < 0 {
			from = math.MaxInt32 // the last line of the item
		}
	}
	p.message = "no match for “" + p.searchText + "”"
}

// View returns the text below a title with the position.
func (p *Pager) View(width, height int) ([]string, *tea.Cursor) {
	s := p.styles
	p.list.Resize(width, max(1, height-PageFrame))
	if p.searching {
		p.find(0)
	}
	lines := p.list.Lines()
	if _, top := p.list.TopLine(); p.Shown != nil {
		p.Shown(width, top, top+min(len(lines), height))
	}
	above, total := p.list.Position()
	position := fmt.Sprintf(" %d/%d", min(total, above+p.list.Height()), total)
	title := s.Bold.Render(Fit(p.title, width-4-len(position))) + s.Dim.Render(position)
	var last string
	var cursor *tea.Cursor
	switch {
	case p.input != nil:
		last, cursor = s.InputLine(FindLabel, p.input, width), InputCursor(FindLabel, p.input, height-1)
	case p.message != "":
		last = s.Warning.Render(Fit(" "+p.message, width))
	default:
		last = s.HintRow(s.Keys.Hint(keymap.ListFind, "find"), s.Keys.Hint(keymap.Back, "back"), width)
	}
	return s.Page(title, lines, last, width, height), cursor
}

package sessionview

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

// search is a search of the whole session. The server finds the hits; where it cannot, the items are
// searched here (see localSearch).
type search struct {
	text       string          // as it was typed
	query      *protocol.Query // nil: no search
	generation int             // of the running search; results of others are stale
	running    bool
	asOf       uint64        // seq of the session when it began
	target     *protocol.Hit // shown first; nil: the newest

	hits    []protocol.Hit // newest first
	counts  []int          // of matches in a hit and all newer ones
	current int            // index of the hit shown last
	cursor  string         // where the server continues; empty: there are no more
	match   match
	local   *localSearch // nil: the server searches
}

// match is the line shown last.
type match struct {
	valid bool
	item  transcript.ID
	line  int
	count int // matches on the line
	newer int // matches in the item below the line
}

// stop ends the running search.
func (f *search) stop() {
	f.generation++
	f.running = false
	if f.local != nil {
		f.local.paging = false
	}
}

// clear ends the search and forgets its hits.
func (f *search) clear() { *f = search{generation: f.generation + 1} }

// view returns the line that says what is searched and which match is shown.
func (f *search) view(l *ui.Styles, width int) []string {
	const label = ui.FindLabel
	switch {
	case f.query == nil:
		return nil
	case f.running && (len(f.hits) == 0 || f.target != nil):
		return []string{l.Dim.Render(ui.Fit(label+f.text+" …", width))}
	}
	matches := f.matches()
	keys := l.Keys.Hint(keymap.OlderMatch, "older", keymap.NewerMatch, "newer", keymap.Back, "close")
	right := strings.Trim(matches+" · "+keys, "· ") + " "
	if ansi.StringWidth(label+f.text+right) > width {
		right = matches + " "
	}
	return []string{l.Dim.Render(ui.Spread(label+f.text, right, width))}
}

// matches returns which match of how many is shown, or "" when that is not known. The server counts the
// matches of a hit; the screen may lay out less or more than that, so the number stays within the hit's.
func (f *search) matches() string {
	if f.local != nil || len(f.hits) == 0 {
		return ""
	}
	n := strconv.Itoa(f.counts[len(f.counts)-1])
	if f.cursor != "" {
		n += "+"
	}
	newer := f.newer(f.current)
	return strconv.Itoa(min(newer+f.match.newer+1, f.counts[f.current])) + " of " + n
}

// newer returns the number of matches in the hits that are newer than one.
func (f *search) newer(hit int) int {
	if hit == 0 {
		return 0
	}
	return f.counts[hit-1]
}

// add takes a hit that is older than all others.
func (f *search) add(h protocol.Hit) {
	h.Snippet, h.Matches = "", nil // the screen shows the item itself
	f.hits = append(f.hits, h)
	f.counts = append(f.counts, f.newer(len(f.counts))+max(h.Count, 1))
}

// matcher returns a function that reports whether a line has all words, and the number of matches on the
// last line that it reported.
func (f *search) matcher() (matches func(line string) bool, count *int) {
	count = new(int)
	return func(line string) bool {
		*count = f.query.Count(ansi.Strip(line))
		return *count > 0
	}, count
}

// targetHit returns the index of the hit to show when a page has arrived: the target, or the newest hit when
// there is none; -1 while it may still come. fresh is the number of hits before the page.
func (f *search) targetHit(fresh int) int {
	if f.target == nil {
		if fresh > 0 || len(f.hits) == 0 {
			return -1 // shown already
		}
		return 0
	}
	is := func(h protocol.Hit) bool {
		return h.Turn == f.target.Turn && h.Kind == f.target.Kind && h.Item == f.target.Item && h.Seq == f.target.Seq
	}
	i := slices.IndexFunc(f.hits[fresh:], is)
	switch {
	case i >= 0:
		f.target = nil
		return fresh + i
	case f.running || len(f.hits) == 0:
		return -1
	}
	f.target = nil
	return 0
}

// searchInput is a docked overlay in which a search is typed.
type searchInput struct {
	styles *ui.Styles
	input  *textinput.Model
}

// searchIntent says what became of a searchInput.
type searchIntent struct {
	text   string
	cancel bool
}

func (i *searchInput) Scope() keymap.Scope { return keymap.Global }
func (i *searchInput) FullScreen() bool    { return false }

func (i *searchInput) Update(msg tea.Msg) ui.Response {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		switch msg.String() {
		case "esc":
			return ui.Response{Close: true, Intent: searchIntent{cancel: true}}
		case "enter":
			return ui.Response{Close: true, Intent: searchIntent{text: i.input.Value()}}
		}
		*i.input, _ = i.input.Update(msg)
	case tea.PasteMsg:
		ui.PasteText(i.input, msg.Content)
	case tea.MouseMsg:
		return ui.Response{Pass: true}
	}
	return ui.Response{}
}

func (i *searchInput) View(width, _ int) ([]string, *tea.Cursor) {
	return []string{i.styles.InputLine(ui.FindLabel, i.input, width)}, ui.InputCursor(ui.FindLabel, i.input, 0)
}

// openSearch returns the input for a new search, with the text of the last one.
func (p *transcriptPane) openSearch() ui.Overlay {
	p.search.stop()
	return &searchInput{p.styles, ui.NewTextInput(p.search.text)}
}

// endSearch ends the search.
func (p *transcriptPane) endSearch() {
	p.search.clear()
	p.view.List.SetHighlight(nil)
}

// beginSearch searches the session, newest first. It reports whether there is something to search for.
func (p *transcriptPane) beginSearch(text string) (cmd tea.Cmd, ok bool) {
	p.endSearch()
	query, err := protocol.ParseQuery(text)
	if err != nil {
		return nil, false // no words, or too many
	}
	f := &p.search
	f.text, f.query, f.running = ui.OneLine(transcript.Clean(text)), query, true
	f.asOf = p.replica.state.Seq
	p.view.List.SetHighlight(func(line string) string { return p.styles.Highlight(line, f.query) })
	if p.replica.conn.State != remote.Connected {
		return p.searchLocally(p.view.List.Last(), -1), true
	}
	return p.requestHits(), true
}

// requestHits requests the next page of hits.
func (p *transcriptPane) requestHits() tea.Cmd {
	f := &p.search
	generation, page := f.generation, new(protocol.SearchResult)
	data := protocol.SearchData{Query: f.query.String(), Limit: remote.HitsPerPage, Cursor: f.cursor}
	return p.commands.do(protocol.DoSearch, data, page, func(err error) tea.Cmd {
		return p.addHits(generation, page, err)
	})
}

// addHits takes a page of hits, shows the first hit and requests the next page, so that all are counted.
func (p *transcriptPane) addHits(generation int, page *protocol.SearchResult, err error) tea.Cmd {
	f := &p.search
	switch {
	case generation != f.generation:
		return nil
	case err != nil && len(f.hits) > 0:
		f.running, f.cursor = false, ""
		return p.commands.report(err)
	case err != nil:
		return p.searchLocally(p.view.List.Last(), -1)
	}
	fresh := len(f.hits)
	for _, h := range page.Hits {
		f.add(h)
	}
	if f.cursor = page.Cursor; f.cursor == "" || len(f.hits) >= remote.MaxHits {
		f.running = false
	}
	var next tea.Cmd
	if f.running {
		next = p.requestHits()
	}
	if len(f.hits) == 0 && !f.running {
		p.commands.status.Text = "“" + f.text + "” is not there"
	}
	if i := f.targetHit(fresh); i >= 0 {
		return tea.Batch(p.goToHit(i, -1), next)
	}
	return next
}

// nextMatch goes to the next line with the words: an older one (by < 0) or a newer one, of the same item or
// of the next.
func (p *transcriptPane) nextMatch(by int) tea.Cmd {
	f := &p.search
	status := p.commands.status
	switch {
	case f.query == nil:
		return nil
	case p.nextMatchInItem(by):
		return nil
	case f.local != nil:
		id, ok := p.view.List.Selected()
		if !ok {
			id = p.view.List.Last() + 1
		}
		return p.searchLocally(id+transcript.ID(by), by)
	case f.current-by < 0 && p.replica.state.Seq > f.asOf:
		cmd, _ := p.beginSearch(f.query.String()) // there may be newer ones by now
		return cmd
	case f.current-by < 0:
		status.Text = "that is the newest match"
	case f.current-by >= len(f.hits) && len(f.hits) > 0:
		status.Text = "that is the oldest match"
		if f.cursor != "" {
			status.Text = "that is the oldest match so far"
		}
	case len(f.hits) > 0:
		return p.goToHit(f.current-by, by)
	}
	return nil
}

// nextMatchInItem goes to the next matching line of the item shown last, unless the selection has moved
// since.
func (p *transcriptPane) nextMatchInItem(by int) bool {
	f, list := &p.search, p.view.List
	id, ok := list.Selected()
	if !ok || !f.match.valid || id != f.match.item {
		return false
	}
	matches, count := f.matcher()
	line, ok := list.FindLine(id, f.match.line+by, by, matches)
	if !ok {
		return false
	}
	if by < 0 {
		f.match.newer += f.match.count
	} else {
		f.match.newer = max(0, f.match.newer-*count)
	}
	f.match.line, f.match.count = line, *count
	list.SelectLine(id, line)
	return true
}

// goToHit shows a hit, coming from a newer one (by < 0) or an older one. Its turn is paged in if needed.
func (p *transcriptPane) goToHit(i, by int) tea.Cmd {
	p.search.current = i
	h := &p.search.hits[i]
	return p.startJump(&jump{
		oldest: h.First, notFound: "the turn is no longer there",
		try: func() bool {
			id, ok := p.itemOfHit(h)
			if !ok && p.view.OlderThan() <= h.First {
				id, ok = p.view.List.FindAnchor(transcriptview.AnchorName(h.Turn, protocol.HitUser, ""))
			}
			if ok {
				p.showMatch(id, by)
			}
			return ok
		},
	})
}

// itemOfHit returns the item of a hit. A long item is paged in in pieces: the one with the words is
// returned, once it is there.
func (p *transcriptPane) itemOfHit(h *protocol.Hit) (transcript.ID, bool) {
	list, name := p.view.List, transcriptview.HitAnchor(h)
	last, ok := list.FindAnchor(name)
	for id := last; ok && id >= list.First(); id-- {
		anchor, is := list.Item(id).(transcript.Anchor)
		if !is {
			break
		}
		if _, its := anchor.Anchor(); its != name {
			break
		}
		if p.search.query.Match(transcriptview.Text(list.Item(id))) {
			return id, true
		}
	}
	return last, ok && p.view.OlderThan() <= h.First
}

// showMatch shows the last matching line of an item (by < 0) or the first. It expands a collapsed item when
// that shows the words.
func (p *transcriptPane) showMatch(id transcript.ID, by int) {
	f, list := &p.search, p.view.List
	matches, count := f.matcher()
	some := func(line string) bool { return f.query.Index(ansi.Strip(line)) >= 0 }
	from := 0
	if by < 0 {
		from = math.MaxInt
	}
	line, ok := list.FindLine(id, from, by, matches)
	if !ok && list.Collapsed(id) {
		list.SetCollapsed(id, false)
		line, ok = list.FindLine(id, from, by, matches)
	}
	f.match = match{}
	if !ok { // the words are on several lines
		line, _ = list.FindLine(id, 0, 1, some)
	} else {
		f.match = match{valid: true, item: id, line: line, count: *count}
		if by > 0 && len(f.hits) > 0 { // at the oldest match of the hit
			f.match.newer = max(0, f.counts[f.current]-f.newer(f.current)-*count)
		}
	}
	list.SelectLine(id, line)
}

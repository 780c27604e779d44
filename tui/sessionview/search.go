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

// search is a search of the whole session. The server finds the hits. If it cannot, local searches
// the loaded items.
type search struct {
	text       string          // as typed
	query      *protocol.Query // nil: no search is open
	generation int             // increases with each search; results of older ones are stale
	running    bool
	startSeq   uint64        // seq of the session at the start
	target     *protocol.Hit // hit to show first; nil: the newest

	hits    []protocol.Hit // newest first
	counts  []int          // counts[i] is the number of matches in hits[:i+1]
	current int            // index of the hit shown last
	cursor  string         // position of the next page; "": no more pages
	match   match
	local   *localSearch // nil: the server searches
}

// match is the matching line shown last.
type match struct {
	valid bool
	item  transcript.ID
	line  int
	count int // matches on the line
	newer int // matches in the item below the line
}

// stop cancels the running search.
func (s *search) stop() {
	s.generation++
	s.running = false
	if s.local != nil {
		s.local.paging = false
	}
}

// clear closes the search.
func (s *search) clear() { *s = search{generation: s.generation + 1} }

// view returns the line with the search text and the number of the shown match.
func (s *search) view(styles *ui.Styles, width int) []string {
	const label = ui.FindLabel
	switch {
	case s.query == nil:
		return nil
	case s.running && (len(s.hits) == 0 || s.target != nil):
		return []string{styles.Dim.Render(ui.Fit(label+s.text+" …", width))}
	}
	position := s.positionText()
	keys := styles.Keys.Hint(keymap.OlderMatch, "older", keymap.NewerMatch, "newer", keymap.Back, "close")
	right := strings.Trim(position+" · "+keys, "· ") + " "
	if ansi.StringWidth(label+s.text+right) > width {
		right = position + " "
	}
	return []string{styles.Dim.Render(ui.Spread(label+s.text, right, width))}
}

// positionText returns the number of the shown match and the total, or "" if unknown. The server
// counts the matches of a hit. The screen may lay out more or fewer, so the number is limited to
// the server's count.
func (s *search) positionText() string {
	if s.local != nil || len(s.hits) == 0 {
		return ""
	}
	total := strconv.Itoa(s.counts[len(s.counts)-1])
	if s.cursor != "" {
		total += "+"
	}
	newer := s.newerCount(s.current)
	return strconv.Itoa(min(newer+s.match.newer+1, s.counts[s.current])) + " of " + total
}

// newerCount returns the number of matches in the hits newer than hit.
func (s *search) newerCount(hit int) int {
	if hit == 0 {
		return 0
	}
	return s.counts[hit-1]
}

// add appends a hit, which is older than all others.
func (s *search) add(h protocol.Hit) {
	h.Snippet, h.Matches = "", nil // not used: the screen shows the item
	s.hits = append(s.hits, h)
	s.counts = append(s.counts, s.newerCount(len(s.counts))+max(h.Count, 1))
}

// matcher returns a function that reports whether a line contains all words, and a pointer to the
// number of matches on the line passed last.
func (s *search) matcher() (matches func(line string) bool, count *int) {
	count = new(int)
	return func(line string) bool {
		*count = s.query.Count(ansi.Strip(line))
		return *count > 0
	}, count
}

// targetHit returns the index of the hit to show after a page has arrived, or -1 for none. The
// hit is the target, or the newest hit if there is no target or no page contains it. fresh is the
// number of hits before the page.
func (s *search) targetHit(fresh int) int {
	if s.target == nil {
		if fresh > 0 || len(s.hits) == 0 {
			return -1 // shown already, or nothing to show
		}
		return 0
	}
	isTarget := func(h protocol.Hit) bool {
		return h.Turn == s.target.Turn && h.Kind == s.target.Kind && h.Item == s.target.Item && h.Seq == s.target.Seq
	}
	i := slices.IndexFunc(s.hits[fresh:], isTarget)
	switch {
	case i >= 0:
		s.target = nil
		return fresh + i
	case s.running || len(s.hits) == 0:
		return -1
	}
	s.target = nil
	return 0
}

// searchInput is a docked overlay for the text of a search.
type searchInput struct {
	styles *ui.Styles
	input  *textinput.Model
}

// searchIntent is the outcome of a searchInput.
type searchIntent struct {
	text   string
	cancel bool
}

// Scope implements [ui.Overlay].
func (i *searchInput) Scope() keymap.Scope { return keymap.Global }

// FullScreen implements [ui.Overlay].
func (i *searchInput) FullScreen() bool { return false }

// Update implements [ui.Overlay].
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

// View implements [ui.Overlay].
func (i *searchInput) View(width, _ int) ([]string, *tea.Cursor) {
	return []string{i.styles.InputLine(ui.FindLabel, i.input, width)}, ui.InputCursor(ui.FindLabel, i.input, 0)
}

// openSearch returns the input for a new search. It contains the text of the last one.
func (p *transcriptPane) openSearch() ui.Overlay {
	p.search.stop()
	return &searchInput{p.styles, ui.NewTextInput(p.search.text)}
}

// endSearch closes the search and removes its highlight.
func (p *transcriptPane) endSearch() {
	p.search.clear()
	p.view.List.SetHighlight(nil)
}

// beginSearch starts a search of the session, newest first. ok is false if the text is not a valid
// query.
func (p *transcriptPane) beginSearch(text string) (cmd tea.Cmd, ok bool) {
	p.endSearch()
	query, err := protocol.ParseQuery(text)
	if err != nil {
		return nil, false // no words, or too many
	}
	s := &p.search
	s.text, s.query, s.running = ui.OneLine(transcript.Clean(text)), query, true
	s.startSeq = p.replica.state.Seq
	p.view.List.SetHighlight(func(line string) string { return p.styles.Highlight(line, s.query) })
	if p.replica.conn.State != remote.Connected {
		return p.searchLocally(p.view.List.Last(), -1), true
	}
	return p.requestHits(), true
}

// requestHits requests the next page of hits.
func (p *transcriptPane) requestHits() tea.Cmd {
	s := &p.search
	generation, page := s.generation, new(protocol.SearchResult)
	data := protocol.SearchData{Query: s.query.String(), Limit: remote.HitsPerPage, Cursor: s.cursor}
	return p.commands.send(protocol.DoSearch, data, page, func(err error) tea.Cmd {
		return p.addHits(generation, page, err)
	})
}

// addHits adds a page of hits, shows the first hit and requests the next page to get the total.
func (p *transcriptPane) addHits(generation int, page *protocol.SearchResult, err error) tea.Cmd {
	s := &p.search
	switch {
	case generation != s.generation:
		return nil
	case err != nil && len(s.hits) > 0:
		s.running, s.cursor = false, ""
		return p.commands.report(err)
	case err != nil:
		return p.searchLocally(p.view.List.Last(), -1)
	}
	fresh := len(s.hits)
	for _, h := range page.Hits {
		s.add(h)
	}
	if s.cursor = page.Cursor; s.cursor == "" || len(s.hits) >= remote.MaxHits {
		s.running = false
	}
	var next tea.Cmd
	if s.running {
		next = p.requestHits()
	}
	if len(s.hits) == 0 && !s.running {
		p.commands.status.Text = "no match for “" + s.text + "”"
	}
	if i := s.targetHit(fresh); i >= 0 {
		return tea.Batch(p.goToHit(i, -1), next)
	}
	return next
}

// nextMatch moves to the next matching line: an older one (by < 0) or a newer one, in the same item
// or the next.
func (p *transcriptPane) nextMatch(by int) tea.Cmd {
	s := &p.search
	status := p.commands.status
	switch {
	case s.query == nil:
		return nil
	case p.nextMatchInItem(by):
		return nil
	case s.local != nil:
		id, ok := p.view.List.Selected()
		if !ok {
			id = p.view.List.Last() + 1
		}
		return p.searchLocally(id+transcript.ID(by), by)
	case s.current-by < 0 && p.replica.state.Seq > s.startSeq:
		cmd, _ := p.beginSearch(s.query.String()) // there may be newer hits by now
		return cmd
	case s.current-by < 0:
		status.Text = "that is the newest match"
	case s.current-by >= len(s.hits) && len(s.hits) > 0:
		status.Text = "that is the oldest match"
		if s.cursor != "" {
			status.Text = "that is the oldest match so far"
		}
	case len(s.hits) > 0:
		return p.goToHit(s.current-by, by)
	}
	return nil
}

// nextMatchInItem moves to the next matching line of the item shown last. It returns false if there
// is none or the selection has moved since.
func (p *transcriptPane) nextMatchInItem(by int) bool {
	s, list := &p.search, p.view.List
	id, ok := list.Selected()
	if !ok || !s.match.valid || id != s.match.item {
		return false
	}
	matches, count := s.matcher()
	line, ok := list.FindLine(id, s.match.line+by, by, matches)
	if !ok {
		return false
	}
	if by < 0 {
		s.match.newer += s.match.count
	} else {
		s.match.newer = max(0, s.match.newer-*count)
	}
	s.match.line, s.match.count = line, *count
	list.SelectLine(id, line)
	return true
}

// goToHit shows a hit, coming from a newer one (by < 0) or an older one. It requests older turns if
// needed.
func (p *transcriptPane) goToHit(i, by int) tea.Cmd {
	p.search.current = i
	h := &p.search.hits[i]
	return p.startJump(&jump{
		oldest: h.First, notFound: "the turn is no longer there",
		show: func() bool {
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

// itemOfHit returns the item of a hit. A long item is loaded in pieces: the piece with the words is
// returned once it is loaded.
func (p *transcriptPane) itemOfHit(h *protocol.Hit) (transcript.ID, bool) {
	list, name := p.view.List, transcriptview.HitAnchor(h)
	last, ok := list.FindAnchor(name)
	for id := last; ok && id >= list.First(); id-- {
		anchor, anchored := list.Item(id).(transcript.Anchor)
		if !anchored {
			break
		}
		if _, itemName := anchor.Anchor(); itemName != name {
			break
		}
		if p.search.query.Match(transcriptview.Text(list.Item(id))) {
			return id, true
		}
	}
	return last, ok && p.view.OlderThan() <= h.First
}

// showMatch shows the last matching line of an item (by < 0) or the first. It expands a collapsed
// item if only then a line matches.
func (p *transcriptPane) showMatch(id transcript.ID, by int) {
	s, list := &p.search, p.view.List
	matches, count := s.matcher()
	anyWord := func(line string) bool { return s.query.Index(ansi.Strip(line)) >= 0 }
	from := 0
	if by < 0 {
		from = math.MaxInt
	}
	line, ok := list.FindLine(id, from, by, matches)
	if !ok && list.Collapsed(id) {
		list.SetCollapsed(id, false)
		line, ok = list.FindLine(id, from, by, matches)
	}
	s.match = match{}
	if !ok { // the words are on several lines
		line, _ = list.FindLine(id, 0, 1, anyWord)
	} else {
		s.match = match{valid: true, item: id, line: line, count: *count}
		if by > 0 && len(s.hits) > 0 { // the line is the oldest match of the hit
			s.match.newer = max(0, s.counts[s.current]-s.newerCount(s.current)-*count)
		}
	}
	list.SelectLine(id, line)
}

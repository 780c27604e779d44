package sessionview

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
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
	count   *matchCount  // of a local search

	expanded []transcript.ID // items that were collapsed, while the text is being typed
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

// view returns the line with the search text and the number of the shown match. Its keys are those
// of the transcript with the focus.
func (s *search) view(styles *ui.Styles, width int, focused bool) []string {
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
	if !focused || ansi.StringWidth(label+s.text+right) > width {
		right = position + " "
	}
	return []string{styles.Dim.Render(ui.Spread(label+s.text, right, width))}
}

// positionText returns the number of the shown match and the total, or "" if unknown. The server
// counts the matches of a hit. The screen may lay out more or fewer, so the number is limited to
// the server's count.
func (s *search) positionText() string {
	switch {
	case s.local != nil && s.count != nil:
		return s.count.positionText(&s.match)
	case s.local != nil || len(s.hits) == 0:
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

// endSearch closes the search and removes its highlight. Items that it expanded while the text was
// typed are collapsed again.
func (p *transcriptPane) endSearch() {
	for _, id := range p.search.expanded {
		if id >= p.view.List.First() && id <= p.view.List.Last() {
			p.view.List.SetCollapsed(id, true)
		}
	}
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
	s.text, s.query, s.running = format.JoinLines(transcript.Clean(text)), query, true
	s.startSeq = p.replica.State.Seq
	p.view.List.SetHighlight(func(line string) string { return p.styles.Highlight(line, s.query) })
	if p.replica.Conn.State != remote.Connected {
		return p.searchLocally(p.view.List.Last(), -1), true
	}
	return p.requestHits(), true
}

// requestHits requests the next page of hits.
func (p *transcriptPane) requestHits() tea.Cmd {
	s := &p.search
	generation, page := s.generation, new(protocol.SearchResult)
	data := protocol.SearchData{Query: s.query.String(), Limit: remote.HitsPerPage, Cursor: s.cursor}
	return p.commands.Send(protocol.DoSearch, data, page, func(err error) tea.Cmd {
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
		return p.commands.Report(err)
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
		p.commands.Status.Text = "no match for “" + s.text + "”"
	}
	if i := s.targetHit(fresh); i >= 0 {
		return tea.Batch(p.goToHit(i, -1), next)
	}
	return next
}

package pane

import (
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

// search finds words in the whole session. The server finds the hits. If it cannot, local searches
// the loaded items.
type search struct {
	panel.Base
	view    *transcriptview.View
	history *history

	focused    bool      // the keys of the transcript act on the search
	typing     bool      // the text is being typed
	typed      string    // to be searched at due
	due        time.Time // zero: nothing is to be searched
	generation int       // increases with each search; results of older ones are stale
	results
}

// results are the hits and matches of the open search.
type results struct {
	text     string          // as typed
	query    *protocol.Query // nil: no search is open
	running  bool
	startSeq uint64        // seq of the session at the start
	target   *protocol.Hit // hit to show first; nil: the newest

	hits    []protocol.Hit // newest first
	counts  []int          // counts[i] is the number of matches in hits[:i+1]
	current int            // index of the hit shown last
	cursor  string         // position of the next page; "": no more pages
	match   match
	local   *localSearch // nil: the server searches

	expanded []transcript.ID // items that were collapsed, while the text is being typed
}

// stop cancels the running search.
func (s *search) stop() {
	s.generation++
	s.due = time.Time{}
	s.running = false
	if s.local != nil {
		s.local.paging = false
	}
}

// line returns the line with the search text and the number of the shown match. Its keys are those
// of the transcript with the focus.
func (s *search) line(width int) []string {
	const label = ui.FindLabel
	switch {
	case s.query == nil:
		return nil
	case s.running && (len(s.hits) == 0 || s.target != nil):
		return []string{ui.Fit(label+s.text+" …", width)}
	}
	position := s.positionText()
	keys := s.Styles.Keys.Hint(keymap.NextMatch, "older", keymap.PreviousMatch, "newer", keymap.Back, "close")
	right := strings.Trim(position+" · "+keys, "· ") + " "
	if !s.focused || transcript.Width(label+s.text+right) > width {
		right = position + " "
	}
	return []string{ui.Spread(label+s.text, s.Styles.Dim.Render(right), width)}
}

// positionText returns the number of the shown match and the total, or "" if unknown: a local search
// does not count. The server counts the matches of a hit. The screen may lay out more or fewer, so the number is limited to
// the server's count.
func (r *results) positionText() string {
	if r.local != nil || len(r.hits) == 0 {
		return ""
	}
	total := strconv.Itoa(r.counts[len(r.counts)-1])
	if r.cursor != "" {
		total += "+"
	}
	newer := r.newerCount(r.current)
	return strconv.Itoa(min(newer+r.match.newer+1, r.counts[r.current])) + " of " + total
}

// newerCount returns the number of matches in the hits newer than hit.
func (r *results) newerCount(hit int) int {
	if hit == 0 {
		return 0
	}
	return r.counts[hit-1]
}

// add appends a hit, which is older than all others.
func (r *results) add(h protocol.Hit) {
	h.Snippet, h.Matches = "", nil // not used: the screen shows the item
	r.hits = append(r.hits, h)
	r.counts = append(r.counts, r.newerCount(len(r.counts))+max(h.Count, 1))
}

// targetHit returns the index of the hit to show after a page has arrived, or -1 for none. The
// hit is the target, or the newest hit if there is no target or no page contains it. fresh is the
// number of hits before the page.
func (r *results) targetHit(fresh int) int {
	if r.target == nil {
		if fresh > 0 || len(r.hits) == 0 {
			return -1 // shown already, or nothing to show
		}
		return 0
	}
	isTarget := func(h protocol.Hit) bool {
		return h.Turn == r.target.Turn && h.Kind == r.target.Kind && h.Item == r.target.Item && h.Seq == r.target.Seq
	}
	i := slices.IndexFunc(r.hits[fresh:], isTarget)
	switch {
	case i >= 0:
		r.target = nil
		return fresh + i
	case r.running || len(r.hits) == 0:
		return -1
	}
	r.target = nil
	return 0
}

// end closes the search and removes its highlight. Items that it expanded while the text was typed
// are collapsed again.
func (s *search) end() {
	list := s.view.List
	for _, id := range s.expanded {
		if id >= list.First() && id <= list.Last() {
			list.SetCollapsed(id, true)
		}
	}
	s.stop()
	s.results = results{}
	list.SetHighlight(nil)
}

// begin starts a search of the session, newest first. ok is false if the text is not a valid query.
func (s *search) begin(text string) (cmd tea.Cmd, ok bool) {
	s.end()
	query, err := protocol.ParseQuery(text)
	if err != nil {
		return nil, false // no words, or too many
	}
	s.text, s.query, s.running = transcript.CleanLine(text), query, true
	s.startSeq = s.Replica.State.Seq
	s.view.List.SetHighlight(func(line string) string { return s.Styles.Highlight(line, s.query) })
	if s.Replica.Conn.State != remote.Connected {
		return s.searchLocally(s.view.List.Last(), -1), true
	}
	return s.requestHits(), true
}

// requestHits requests the next page of hits.
func (s *search) requestHits() tea.Cmd {
	generation, page := s.generation, new(protocol.SearchResult)
	data := protocol.SearchData{Query: s.query.String(), Limit: remote.HitsPerPage, Cursor: s.cursor}
	return s.Commands.Send(protocol.DoSearch, data, page, func(err error) tea.Cmd {
		return s.addHits(generation, page, err)
	})
}

// addHits adds a page of hits, shows the first hit and requests the next page to get the total.
func (s *search) addHits(generation int, page *protocol.SearchResult, err error) tea.Cmd {
	switch {
	case generation != s.generation:
		return nil
	case err != nil && len(s.hits) > 0:
		s.running, s.cursor = false, ""
		return s.Commands.Report(err)
	case err != nil:
		return s.searchLocally(s.view.List.Last(), -1)
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
		next = s.requestHits()
	}
	if len(s.hits) == 0 && !s.running {
		s.Commands.Status.Text = "no match for “" + s.text + "”"
	}
	if i := s.targetHit(fresh); i >= 0 {
		return tea.Batch(s.goToHit(i, -1), next)
	}
	return next
}

// Deadline implements [ui.Timed]. It is the time at which the typed text is searched.
func (s *search) Deadline() time.Time { return s.due }

// Due implements [ui.Timed].
func (s *search) Due() (cmd tea.Cmd, changed bool) {
	cmd, _ = s.begin(s.typed) // without words nothing is highlighted
	return cmd, true
}

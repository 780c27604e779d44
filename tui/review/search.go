package review

import (
	"fmt"
	"sort"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// search is a search in the changes.
type search struct {
	input   *ui.TextInput // while the text is typed, else nil
	text    string
	query   *protocol.Query // nil: there is no search
	matches []match         // in the order of the changes
	at      int             // index of the shown match
}

// match is a line of the patch, or the header of a file, that a query matches.
type match struct {
	piece int
	line  int // of the piece; -1: the header
}

// searchLabel is the label of the input.
const searchLabel = " find: "

// Searching reports whether there is a search.
func (v *View) Searching() bool { return v.search.query != nil }

// beginSearch starts to edit the text of the search.
func (v *View) beginSearch() { v.search.input = v.styles.NewTextInput(v.search.text) }

// pressSearchInput handles a key while the text is typed. Enter searches, an empty text ends the
// search.
func (v *View) pressSearchInput(msg tea.KeyPressMsg) ui.Response {
	s := &v.search
	switch v.styles.FieldAction(msg) {
	case keymap.Choose:
		s.text = s.input.Value()
		s.input = nil
		v.startSearch()
	case keymap.Back:
		s.input = nil
	default:
		if r, ok := s.input.Edit(msg, nil); ok {
			return r
		}
		s.input.Press(msg)
	}
	return ui.Response{}
}

// startSearch finds the matches and shows the first one from the current line.
func (v *View) startSearch() {
	s := &v.search
	s.query, _ = protocol.ParseQuery(s.text) // nil if the text is empty or too long
	if s.query == nil {
		v.endSearch()
		return
	}
	v.findMatches()
	if len(s.matches) == 0 {
		v.message = "no match for " + format.JoinLines(s.text)
		v.endSearch()
		return
	}
	v.files.focused = false
	s.at = sort.Search(len(s.matches), func(i int) bool { return !v.pointOf(s.matches[i]).Before(v.current) })
	s.at %= len(s.matches)
	v.show(v.pointOf(s.matches[s.at]))
}

// endSearch removes the matches. The text stays for the next search.
func (v *View) endSearch() {
	v.search.query, v.search.matches = nil, nil
	v.list.SetHighlight(nil)
}

// findMatches finds the matches of the query and highlights them.
func (v *View) findMatches() {
	s, c := &v.search, v.content.Changes
	s.matches = nil
	for i := range c.Len() {
		piece := c.Piece(i)
		if piece.IsHeader() && s.query.Match(piece.File().Path()) {
			s.matches = append(s.matches, match{i, -1})
		}
		for line := range piece.Len() {
			if source, _, _ := piece.Line(line); s.query.Match(source.Text) {
				s.matches = append(s.matches, match{i, line})
			}
		}
	}
	v.list.SetHighlight(func(line string) string { return v.styles.Highlight(line, s.query) })
}

// nextMatch shows another match. After the last one it starts again.
func (v *View) nextMatch(by int) {
	s := &v.search
	n := len(s.matches)
	at := s.at + by
	switch {
	case at >= n:
		v.message = "from the start: match 1 of " + fmt.Sprint(n)
	case at < 0:
		v.message = fmt.Sprintf("from the end: match %d of %d", n, n)
	}
	s.at = (at + n) % n
	v.show(v.pointOf(s.matches[s.at]))
}

// pointOf returns the line of the body that shows a match.
func (v *View) pointOf(m match) transcript.Point {
	c := v.content.Changes
	if m.line < 0 {
		return v.start(c.FileOf(m.piece))
	}
	p := transcript.Point{Item: v.first() + transcript.ID(m.piece)}
	item := v.items[m.piece]
	rows := item.layout(v.bodyWidth())
	lines := c.Layout(m.piece, max(1, v.bodyWidth()-gutterWidth), v.styles.SideBySide(v.bodyWidth()))
	for i, row := range rows {
		if row.line >= 0 && !row.comment && (lines[row.line].New == m.line || lines[row.line].Old == m.line) {
			p.Line = i
			break
		}
	}
	return p
}

// searchHint returns the count of the matches and the keys of the search.
func (v *View) searchHint() string {
	s := &v.search
	return fmt.Sprintf("match %d of %d", s.at+1, len(s.matches)) + ui.Prefixed(keymap.Separator, v.styles.Keys.Hint(
		keymap.ReviewNextMatch, "next", keymap.ReviewPreviousMatch, "previous", keymap.ReviewFind, "find",
		keymap.Back, "close search"))
}

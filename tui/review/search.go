package review

import (
	"fmt"
	"sort"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/filechange"
	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

// search is a search in the changes.
type search struct {
	styles  *ui.Styles
	input   *ui.TextInput // while the text is typed, else nil
	text    string
	query   *protocol.Query // nil: there is no search
	matches []match         // in the order of the changes
	at      int             // index of the shown match
}

// match is a line that a query matches: of the head, of the patch, or the header of a file.
type match struct {
	piece int // -1: the head
	line  int // of the piece or the head; -1: the header of a file
}

// active reports whether there is a search.
func (s *search) active() bool { return s.query != nil }

// open starts to edit the text of the search.
func (s *search) open() { s.input = s.styles.NewTextInput(s.text) }

// press handles a key while the text is typed. entered reports whether it is complete: the caller
// starts the search then.
func (s *search) press(msg tea.KeyPressMsg) (r ui.Response, entered bool) {
	switch s.styles.FieldAction(msg) {
	case keymap.Choose:
		s.text = s.input.Value()
		s.input = nil
		return ui.Response{}, true
	case keymap.Back:
		s.input = nil
	default:
		return s.input.Press(msg), false
	}
	return ui.Response{}, false
}

// start finds the matches of the text. reached reports whether a match is at or after a position: the
// first such match is the current one, else the first of all. Without a match, or without a text,
// there is no search. It returns a status message, or "".
func (s *search) start(c *filechange.Changes, head []string, reached func(match) bool) (message string) {
	s.query, _ = protocol.ParseQuery(s.text) // nil if the text is empty or too long
	if s.find(c, head); len(s.matches) > 0 {
		s.at = sort.Search(len(s.matches), func(i int) bool { return reached(s.matches[i]) }) % len(s.matches)
		return ""
	}
	if s.query != nil {
		message = "no match for " + format.JoinLines(s.text)
	}
	s.end()
	return message
}

// update finds the matches again after a change of the content. Without a match the search ends.
func (s *search) update(c *filechange.Changes, head []string) {
	s.find(c, head)
	if s.at = min(s.at, len(s.matches)-1); s.at < 0 {
		s.end()
	}
}

// find finds the matches of the query in the lines of the head and in the changes.
func (s *search) find(c *filechange.Changes, head []string) {
	s.matches = nil
	if s.query == nil {
		return
	}
	for i, line := range head {
		if s.query.Match(line) {
			s.matches = append(s.matches, match{-1, i})
		}
	}
	for i := range c.Len() {
		piece := c.Piece(i)
		if piece.IsHeader && s.query.Match(piece.File.Path()) {
			s.matches = append(s.matches, match{i, -1})
		}
		for line := range piece.Len() {
			if source, _, _ := piece.Line(line); s.query.Match(source.Text) {
				s.matches = append(s.matches, match{i, line})
			}
		}
	}
}

// end removes the matches. The text stays for the next search.
func (s *search) end() { s.query, s.matches = nil, nil }

// current returns the shown match. There must be a search.
func (s *search) current() match { return s.matches[s.at] }

// next selects another match. After the last one it starts again, with a message.
func (s *search) next(by int) (message string) {
	n := len(s.matches)
	at := s.at + by
	switch {
	case at >= n:
		message = "from the start: match 1 of " + fmt.Sprint(n)
	case at < 0:
		message = fmt.Sprintf("from the end: match %d of %d", n, n)
	}
	s.at = (at + n) % n
	return message
}

// line draws the field of the text on row y, with its cursor.
func (s *search) line(width, y int) (string, *tea.Cursor) {
	return s.styles.InputLine(ui.FindLabel, s.input, width), ui.InputCursor(ui.FindLabel, s.input, y)
}

// hint returns the count of the matches and the keys of the search.
func (s *search) hint() string {
	return fmt.Sprintf("match %d of %d", s.at+1, len(s.matches)) + ui.Prefixed(keymap.Separator, s.styles.Keys.Hint(
		keymap.NextMatch, "next", keymap.PreviousMatch, "previous", keymap.ListFind, "find"))
}

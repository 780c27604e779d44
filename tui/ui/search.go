package ui

import (
	"math"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
)

// FindLabel is the prompt of a search.
const FindLabel = " find: "

// Search is a search in the lines of a list as they are drawn. The view that shows the list owns it.
type Search struct {
	styles *Styles
	list   *transcript.List
	input  *TextInput      // nil unless the text is typed
	text   string          // the last one, as typed
	query  *protocol.Query // nil: there is no search
}

// searchable is an item that knows without a layout that none of its lines matches.
type searchable interface{ MayMatch(q *protocol.Query) bool }

// NewSearch returns a search that has not begun.
func NewSearch(s *Styles, list *transcript.List) Search { return Search{styles: s, list: list} }

// Open starts to edit the text.
func (s *Search) Open() { s.input = s.styles.NewTextInput(s.text) }

// Typing reports whether the text is being edited.
func (s *Search) Typing() bool { return s.input != nil }

// Active reports whether there is a search.
func (s *Search) Active() bool { return s.query != nil }

// End ends the search. The text stays for the next one.
func (s *Search) End() {
	s.query = nil
	s.list.SetHighlight(nil)
}

// SetList replaces the list. The search continues in the new one.
func (s *Search) SetList(list *transcript.List) {
	s.list = list
	if s.query != nil {
		s.list.SetHighlight(func(line string) string { return s.styles.Highlight(line, s.query) })
	}
}

// Paste inserts a text while the text is edited.
func (s *Search) Paste(text string) {
	if s.input != nil {
		s.input.Paste(text)
	}
}

// Press handles a key while the text is edited. entered reports that a search begins: the view calls
// Find. A text that is empty or too long ends the search.
func (s *Search) Press(msg tea.KeyPressMsg) (r Response, entered bool) {
	switch s.styles.FieldAction(msg) {
	case keymap.Back:
		s.input = nil
		s.End()
	case keymap.Choose:
		text := s.input.Value()
		s.input = nil
		return Response{}, s.Begin(text)
	default:
		return s.input.Press(msg), false
	}
	return Response{}, false
}

// Begin begins a search. It returns false if the text is empty or too long: there is no search then.
func (s *Search) Begin(text string) bool {
	s.End()
	s.text = transcript.CleanLine(text)
	s.query, _ = protocol.ParseQuery(s.text)
	s.SetList(s.list)
	return s.Active()
}

// Find returns the first line with a match after (1) or before (-1) a line, or at or after it (0). After
// the last line it starts again from the first one, with a status message. ok is false without a match.
func (s *Search) Find(from transcript.Point, by int) (at transcript.Point, message string, ok bool) {
	first, last := s.list.First(), s.list.Last()
	if s.query == nil || last < first {
		return from, "", false
	}
	match := func(line string) bool { return s.query.Match(ansi.Strip(line)) }
	step, item, line := by|1, max(first, min(from.Item, last)), from.Line+by // step is 1 or -1
	for range last - first + 2 {                                             // the item of from again, for the lines before
		if searched, ok := s.list.Item(item).(searchable); !ok || searched.MayMatch(s.query) {
			if line, ok = s.list.FindLine(item, line, step, match); ok {
				return transcript.Point{Item: item, Line: line}, message, true
			}
		}
		if line = 0; step < 0 {
			line = math.MaxInt32 // the last line of the item
		}
		switch item += transcript.ID(step); {
		case item > last:
			item, message = first, "from the start"
		case item < first:
			item, message = last, "from the end"
		}
	}
	return from, "no match for “" + s.text + "”", false
}

// Line draws the field of the text on row y, with its cursor.
func (s *Search) Line(width, y int) (string, *tea.Cursor) {
	return s.styles.InputLine(FindLabel, s.input, width), InputCursor(FindLabel, s.input, y)
}

package tui

import (
	"strings"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
)

// Bounds of what a draft keeps in its area. A key costs what the area holds.
const (
	areaBytes = 4 << 10 // on each side of the cursor, when the area is filled
	areaLines = 30
	edgeBytes = 2500 // nearer to an end than both, the area is filled anew:
	edgeLines = 10   // what is on the screen lies within
)

// draft is a text of any length to write in: an area holds what is around the
// cursor, the rest of the text waits above and below it.
type draft struct {
	textarea.Model
	above, below string
}

// Value is all of the text.
func (s *draft) Value() string { return s.above + s.Model.Value() + s.below }

func (s *draft) empty() bool { return s.above == "" && s.below == "" && s.Length() == 0 }

// SetValue replaces the text; the cursor is at its end.
func (s *draft) SetValue(text string) {
	text = tabless(text)
	s.fill(text, len(text))
}

// Reset empties it.
func (s *draft) Reset() {
	s.above, s.below = "", ""
	s.Model.Reset()
}

// InsertString inserts at the cursor.
func (s *draft) InsertString(text string) {
	text = tabless(text)
	before, after := s.split()
	s.fill(s.above+before+text+after+s.below, len(s.above)+len(before)+len(text))
}

// tabless is text without tabs, which an area does not hold.
func tabless(text string) string { return strings.ReplaceAll(text, "\t", "    ") }

// press edits the text.
func (s *draft) press(msg tea.KeyPressMsg) {
	switch {
	case key.Matches(msg, s.KeyMap.InputBegin):
		s.fill(s.Value(), 0)
		return
	case key.Matches(msg, s.KeyMap.InputEnd):
		s.SetValue(s.Value())
		return
	}
	s.Model, _ = s.Update(msg)
	if s.above == "" && s.below == "" && s.LineCount() < 2*areaLines && s.Length() < 2*areaBytes {
		return
	}
	before, after := s.split()
	if s.far(before, s.above) && s.far(after, s.below) && len(before)+len(after) < 4*areaBytes && s.LineCount() < 4*areaLines {
		return
	}
	s.fill(s.above+before+after+s.below, len(s.above)+len(before))
}

// far tells that a side of the area is long enough, given what lies beyond.
func (s *draft) far(side, beyond string) bool {
	return beyond == "" || len(side) >= edgeBytes || strings.Count(side, "\n") >= edgeLines
}

// split is the area's text before and after the cursor.
func (s *draft) split() (before, after string) {
	text := s.Model.Value()
	at := 0
	for range s.Line() {
		at += strings.IndexByte(text[at:], '\n') + 1
	}
	for range s.Column() {
		_, n := utf8.DecodeRuneInString(text[at:])
		at += n
	}
	return text[:at], text[at:]
}

// fill puts what is around the cursor into the area.
func (s *draft) fill(text string, cursor int) {
	start, end := cursor, cursor
	for lines := 0; start > 0 && cursor-start < areaBytes && lines < areaLines; start-- {
		if text[start-1] == '\n' {
			lines++
		}
	}
	for lines := 0; end < len(text) && end-cursor < areaBytes && lines < areaLines; end++ {
		if text[end] == '\n' {
			lines++
		}
	}
	for start > 0 && !utf8.RuneStart(text[start]) {
		start--
	}
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}
	s.above, s.below = text[:start], text[end:]
	s.Model.SetValue(text[cursor:end])
	s.MoveToBegin()
	s.Model.InsertString(text[start:cursor])
	s.settle()
}

// settle brings the cursor on the screen. The area scrolls only within what it
// has drawn.
func (s *draft) settle() {
	_ = s.View()
	s.SetHeight(s.Height())
}

// atEdge tells that the cursor is on the first row of the text, or with down on
// the last.
func (s *draft) atEdge(down bool) bool {
	at := s.LineInfo()
	if down {
		return s.below == "" && s.Line() == s.LineCount()-1 && at.RowOffset >= at.Height-1
	}
	return s.above == "" && s.Line() == 0 && at.RowOffset == 0
}

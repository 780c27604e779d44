package composer

import (
	"strings"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
)

// Bounds of the window. The cost of a key is proportional to the text in the window.
const (
	windowBytes = 4 << 10 // on each side of the cursor, in a new window
	windowLines = 30
	marginBytes = 2500 // the window moves if the cursor is closer to its end than both;
	marginLines = 10   // both are more than the area shows
)

// longText is an editor for texts of any length. The text area holds a window around the cursor;
// the rest of the text is kept above and below it.
type longText struct {
	textarea.Model
	above, below string
	changed      bool // since it was drawn, also its focus
}

// Value returns the whole text.
func (t *longText) Value() string { return t.above + t.Model.Value() + t.below }

// empty reports whether there is no text.
func (t *longText) empty() bool { return t.above == "" && t.below == "" && t.Length() == 0 }

// SetValue replaces the text. The cursor is at its end.
func (t *longText) SetValue(text string) {
	text = expandTabs(text)
	t.SetText(text, len(text))
}

// Reset removes the text.
func (t *longText) Reset() {
	t.changed = true
	t.above, t.below = "", ""
	t.Model.Reset()
}

// InsertString inserts text at the cursor.
func (t *longText) InsertString(text string) {
	text = expandTabs(text)
	before, after := t.split()
	t.SetText(t.above+before+text+after+t.below, len(t.above)+len(before)+len(text))
}

// expandTabs replaces tabs, which a text area cannot hold, by spaces.
func expandTabs(text string) string { return strings.ReplaceAll(text, "\t", "    ") }

// Handle implements edit.Field. It moves the window if needed.
func (t *longText) Handle(msg tea.KeyPressMsg) {
	t.changed = true
	switch {
	case key.Matches(msg, t.KeyMap.InputBegin):
		t.SetText(t.Value(), 0)
		return
	case key.Matches(msg, t.KeyMap.InputEnd):
		t.SetValue(t.Value())
		return
	}
	t.Model, _ = t.Update(msg)
	if t.above == "" && t.below == "" && t.LineCount() < 2*windowLines && t.Length() < 2*windowBytes {
		return
	}
	before, after := t.split()
	if t.hasMargin(before, t.above) && t.hasMargin(after, t.below) && len(before)+len(after) < 4*windowBytes &&
		t.LineCount() < 4*windowLines {
		return
	}
	t.SetText(t.above+before+after+t.below, len(t.above)+len(before))
}

// hasMargin reports whether side, the text of the window on one side of the cursor, is long enough.
// beyond is the text outside of the window on that side.
func (t *longText) hasMargin(side, beyond string) bool {
	return beyond == "" || len(side) >= marginBytes || strings.Count(side, "\n") >= marginLines
}

// split returns the text of the window before and after the cursor.
func (t *longText) split() (before, after string) {
	text := t.Model.Value()
	offset := 0
	for range t.Line() {
		offset += strings.IndexByte(text[offset:], '\n') + 1
	}
	for range t.Column() {
		_, n := utf8.DecodeRuneInString(text[offset:])
		offset += n
	}
	return text[:offset], text[offset:]
}

// cursor returns the position of the cursor in the whole text, in bytes.
func (t *longText) cursor() int {
	before, _ := t.split()
	return len(t.above) + len(before)
}

// SetText implements edit.Field: it sets the text and the cursor, a byte offset, and moves the window around
// the cursor.
func (t *longText) SetText(text string, cursor int) {
	t.changed = true
	start, end := cursor, cursor
	for lines := 0; start > 0 && cursor-start < windowBytes && lines < windowLines; start-- {
		if text[start-1] == '\n' {
			lines++
		}
	}
	for lines := 0; end < len(text) && end-cursor < windowBytes && lines < windowLines; end++ {
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
	t.above, t.below = text[:start], text[end:]
	t.Model.SetValue(text[cursor:end])
	t.MoveToBegin()
	t.Model.InsertString(text[start:cursor])
	_ = t.View() // the area scrolls only within the rows that it has drawn
	t.SetHeight(t.Height())
}

// atEdge reports whether the cursor is on the first row of the text, or on the last row if down is
// set.
func (t *longText) atEdge(down bool) bool {
	line := t.LineInfo()
	if down {
		return t.below == "" && t.Line() == t.LineCount()-1 && line.RowOffset >= line.Height-1
	}
	return t.above == "" && t.Line() == 0 && line.RowOffset == 0
}

// Text implements edit.Field.
func (t *longText) Text() (text string, cursor int) { return t.Value(), t.cursor() }

// Kills implements edit.Field.
func (t *longText) Kills(msg tea.KeyPressMsg) bool {
	k := &t.KeyMap
	return key.Matches(msg, k.DeleteWordBackward, k.DeleteWordForward, k.DeleteAfterCursor, k.DeleteBeforeCursor)
}

package composer

import (
	"strings"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
)

// Bounds of what a draft keeps in its area. A key costs what the area holds.
const (
	windowBytes = 4 << 10 // on each side of the cursor, when the area is filled
	windowLines = 30
	marginBytes = 2500 // nearer to an end than both, the area is filled anew:
	marginLines = 10   // what is on the screen lies within
)

// longText is a text of any length to write in: an area holds what is around the
// cursor, the rest of the text waits above and below it.
type longText struct {
	textarea.Model
	above, below string
}

// Value is all of the text.
func (d *longText) Value() string { return d.above + d.Model.Value() + d.below }

func (d *longText) empty() bool { return d.above == "" && d.below == "" && d.Length() == 0 }

// SetValue replaces the text; the cursor is at its end.
func (d *longText) SetValue(text string) {
	text = expandTabs(text)
	d.setWindow(text, len(text))
}

// Reset empties it.
func (d *longText) Reset() {
	d.above, d.below = "", ""
	d.Model.Reset()
}

// InsertString inserts at the cursor.
func (d *longText) InsertString(text string) {
	text = expandTabs(text)
	before, after := d.split()
	d.setWindow(d.above+before+text+after+d.below, len(d.above)+len(before)+len(text))
}

// expandTabs is text without tabs, which an area does not hold.
func expandTabs(text string) string { return strings.ReplaceAll(text, "\t", "    ") }

// handleKey edits the text.
func (d *longText) handleKey(msg tea.KeyPressMsg) {
	switch {
	case key.Matches(msg, d.KeyMap.InputBegin):
		d.setWindow(d.Value(), 0)
		return
	case key.Matches(msg, d.KeyMap.InputEnd):
		d.SetValue(d.Value())
		return
	}
	d.Model, _ = d.Update(msg)
	if d.above == "" && d.below == "" && d.LineCount() < 2*windowLines && d.Length() < 2*windowBytes {
		return
	}
	before, after := d.split()
	if d.hasMargin(before, d.above) && d.hasMargin(after, d.below) && len(before)+len(after) < 4*windowBytes &&
		d.LineCount() < 4*windowLines {
		return
	}
	d.setWindow(d.above+before+after+d.below, len(d.above)+len(before))
}

// hasMargin tells that a side of the area is long enough, given what lies beyond.
func (d *longText) hasMargin(side, beyond string) bool {
	return beyond == "" || len(side) >= marginBytes || strings.Count(side, "\n") >= marginLines
}

// split is the area's text before and after the cursor.
func (d *longText) split() (before, after string) {
	text := d.Model.Value()
	at := 0
	for range d.Line() {
		at += strings.IndexByte(text[at:], '\n') + 1
	}
	for range d.Column() {
		_, n := utf8.DecodeRuneInString(text[at:])
		at += n
	}
	return text[:at], text[at:]
}

// setWindow puts what is around the cursor into the area.
func (d *longText) setWindow(text string, cursor int) {
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
	d.above, d.below = text[:start], text[end:]
	d.Model.SetValue(text[cursor:end])
	d.MoveToBegin()
	d.Model.InsertString(text[start:cursor])
	d.scrollToCursor()
}

// scrollToCursor brings the cursor on the screen. The area scrolls only within what it
// has drawn.
func (d *longText) scrollToCursor() {
	_ = d.View()
	d.SetHeight(d.Height())
}

// atEdge tells that the cursor is on the first row of the text, or with down on
// the last.
func (d *longText) atEdge(down bool) bool {
	at := d.LineInfo()
	if down {
		return d.below == "" && d.Line() == d.LineCount()-1 && at.RowOffset >= at.Height-1
	}
	return d.above == "" && d.Line() == 0 && at.RowOffset == 0
}

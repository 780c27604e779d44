package review

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// commentField is the text field of a comment on a line.
type commentField struct {
	styles   *ui.Styles
	comments *Comments     // nil: no line can be commented
	place    Place         // the line
	input    *ui.TextInput // nil: no comment is being written
}

// open starts to edit the comment on a line.
func (f *commentField) open(place Place) {
	f.place, f.input = place, f.styles.NewTextInput(f.comments.At(place))
}

// active reports whether a comment is being written.
func (f *commentField) active() bool { return f.input != nil }

// press handles a key while a comment is written. Enter saves it, an empty one removes it. saved
// reports whether the comments have changed.
func (f *commentField) press(msg tea.KeyPressMsg) (r ui.Response, saved bool) {
	switch f.styles.FieldAction(msg) {
	case keymap.Choose, keymap.Complete:
		saved = f.save()
		f.input = nil
	case keymap.Back:
		f.input = nil
	default:
		return f.input.Press(msg), false
	}
	return ui.Response{}, saved
}

// save saves the comment that is being written. It returns false if there is none.
func (f *commentField) save() bool {
	if f.input == nil {
		return false
	}
	f.comments.Set(f.place, transcript.CleanLine(strings.TrimSpace(f.input.Value())))
	return true
}

// line draws the field on row y, with its cursor.
func (f *commentField) line(width, y int) (string, *tea.Cursor) {
	label := " comment on " + f.place.String() + ": "
	if transcript.Width(label) > width/2 {
		label = " comment: "
	}
	return f.styles.InputLine(label, f.input, width), ui.InputCursor(label, f.input, y)
}

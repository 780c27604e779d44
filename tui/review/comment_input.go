package review

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// editComment starts to edit the comment on the current line.
func (v *View) editComment() {
	if v.findPlace() {
		v.startInput()
	}
}

// removeComment removes the comment on the current line.
func (v *View) removeComment() {
	switch {
	case !v.findPlace():
	case v.content.Comments.At(v.place) == "":
		v.message = "this line has no comment"
	default:
		v.setComment("")
	}
}

// findPlace sets the place to the current line: the line with a comment if it shows two. It returns
// false, with a message, if it is no line of a patch.
func (v *View) findPlace() bool {
	piece := v.currentPiece()
	if v.content.Comments == nil {
		v.message = "these changes are not under review: comments go with a decision"
		return false
	}
	if piece >= 0 && piece < len(v.items) {
		item := v.items[piece]
		rows := item.layout(v.bodyWidth())
		if v.current.Line < len(rows) {
			places := item.places(rows[v.current.Line].line)
			for i, place := range places {
				if i == 0 || v.content.Comments.At(place) != "" && v.content.Comments.At(places[0]) == "" {
					v.place = place
				}
			}
			if len(places) > 0 {
				return true
			}
		}
	}
	v.message = "select a line of a change to comment on it"
	return false
}

// startInput starts to edit the comment on the place.
func (v *View) startInput() { v.input = v.styles.NewTextInput(v.content.Comments.At(v.place)) }

// pressInput handles a key while a comment is written. Enter saves it, an empty one removes it.
func (v *View) pressInput(msg tea.KeyPressMsg) ui.Response {
	switch v.styles.FieldAction(msg) {
	case keymap.Choose, keymap.Complete:
		v.SaveComment()
		v.input = nil
	case keymap.Back:
		v.input = nil
	default:
		if r, ok := v.input.Edit(msg, nil); ok {
			return r
		}
		v.input.Press(msg)
	}
	return ui.Response{}
}

// Commenting reports whether a comment is being written.
func (v *View) Commenting() bool { return v.input != nil }

// SaveComment saves the comment that is being written, if any.
func (v *View) SaveComment() {
	if v.input != nil {
		v.setComment(format.JoinLines(transcript.Clean(strings.TrimSpace(v.input.Value()))))
	}
}

// setComment replaces the comment on the place.
func (v *View) setComment(text string) {
	v.content.Comments.Set(v.place, text)
	v.Redraw()
}

// copyComments returns the intent to copy all comments.
func (v *View) copyComments() ui.Response {
	if v.content.Comments == nil || v.content.Comments.Len() == 0 {
		v.message = "there are no comments to copy"
		return ui.Response{}
	}
	v.message = "copied " + format.Count(v.content.Comments.Len(), "comment")
	return ui.Response{Intent: ui.CopyIntent{Text: v.content.Comments.Text()}}
}

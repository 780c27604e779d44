package sessionview

import (
	"time"

	"agentctl/tui/keymap"
)

// keyInterval is the shortest time between two key presses of a user. A terminal that does not
// report its mouse wheel sends several arrow keys at once instead.
const keyInterval = 10 * time.Millisecond

// arrowKeys distinguishes the arrow keys of a mouse wheel from those of the keyboard.
type arrowKeys struct {
	lastAt      time.Time // when the last arrow arrived
	lastWasKey  bool      // it was handled as a key press
	recallSteps int       // steps it made through earlier messages: 1, 0 or -1
	cursor      int       // of the composer before it
}

// wheelRow scrolls like wheelArrow if the text of the composer is one row, which needs no arrows.
func (v *View) wheelRow(action keymap.Action) bool {
	if !v.composer.AtEdge(false) || !v.composer.AtEdge(true) {
		return false
	}
	switch action {
	case keymap.ComposerEarlier:
		return v.wheelArrow(1)
	case keymap.ComposerLater:
		return v.wheelArrow(-1)
	}
	return false
}

// wheelArrow scrolls by a line if an arrow comes from a mouse wheel, and reports whether it does.
// The first arrow of a burst was handled as a key press: wheelArrow undoes its effect and scrolls
// by one line more.
func (v *View) wheelArrow(by int) bool {
	now := v.Now()
	if now.Sub(v.pressed.arrows.lastAt) >= keyInterval {
		v.pressed.arrows = arrowKeys{lastAt: now, lastWasKey: true, cursor: v.composer.Cursor()}
		return false
	}
	v.status.Clear()
	if v.pressed.arrows.recallSteps != 0 {
		v.composer.Recall(-v.pressed.arrows.recallSteps, v.replica.Conn.By)
	}
	if v.pressed.arrows.lastWasKey {
		v.composer.MoveCursor(v.pressed.arrows.cursor)
	}
	if v.pressed.arrows.lastWasKey {
		v.transcript.Scroll(-by)
	}
	v.pressed.arrows = arrowKeys{lastAt: now}
	v.transcript.Scroll(-by)
	return true
}

package input

import (
	"time"

	"agentctl/tui/keymap"
)

// keyInterval is the shortest time between two key presses of a user. A terminal that does not
// report its mouse wheel sends several arrow keys together instead.
const keyInterval = 10 * time.Millisecond

// arrowKeys distinguishes the arrow keys of a mouse wheel from arrow keys of the keyboard.
type arrowKeys struct {
	lastAt      time.Time // when the last arrow arrived
	lastWasKey  bool      // it was handled as a key press
	recallSteps int       // steps it made through earlier messages: 1, 0 or -1
	cursor      int       // of the composer before it
}

// wheelRow scrolls like wheelArrow if the text of the composer is one row, which needs no arrows.
func (in *Input) wheelRow(action keymap.Action) bool {
	if !in.composer.AtEdge(false) || !in.composer.AtEdge(true) {
		return false
	}
	switch action {
	case keymap.ComposerEarlier:
		return in.wheelArrow(1)
	case keymap.ComposerLater:
		return in.wheelArrow(-1)
	}
	return false
}

// wheelArrow scrolls by a line if an arrow comes from a mouse wheel, and reports whether it does.
// The first arrow of a burst was handled as a key press: wheelArrow undoes its effect and scrolls
// by one line more.
func (in *Input) wheelArrow(by int) bool {
	now := in.Now()
	if now.Sub(in.pressed.arrows.lastAt) >= keyInterval {
		in.pressed.arrows = arrowKeys{lastAt: now, lastWasKey: true, cursor: in.composer.Cursor()}
		return false
	}
	in.Commands.Status.Clear()
	if in.pressed.arrows.recallSteps != 0 {
		in.composer.Recall(-in.pressed.arrows.recallSteps, in.Replica.Conn.By)
	}
	if in.pressed.arrows.lastWasKey {
		in.composer.MoveCursor(in.pressed.arrows.cursor)
	}
	if in.pressed.arrows.lastWasKey {
		in.Transcript.Scroll(-by)
	}
	in.pressed.arrows = arrowKeys{lastAt: now}
	in.Transcript.Scroll(-by)
	return true
}

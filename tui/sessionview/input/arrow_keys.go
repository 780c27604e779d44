package input

import "time"

// keyInterval is the shortest time between two key presses of a user. A terminal that does not
// report its mouse wheel sends several arrow keys together instead.
const keyInterval = 10 * time.Millisecond

// arrowKeys distinguishes the arrow keys of a mouse wheel from arrow keys of the keyboard.
type arrowKeys struct {
	now     func() time.Time
	at      time.Time   // when the last arrow arrived
	pressed *arrowPress // the last arrow if it was handled as a key press, or nil
}

// arrowPress is the effect of an arrow that was handled as a key press.
type arrowPress struct {
	cursor   int // of the text before it
	recalled int // steps that it made through earlier messages: 1, 0 or -1
}

// next reports whether an arrow comes from a mouse wheel. undo is the press to undo then: the first
// arrow of a burst cannot be distinguished from a key press. cursor is the text's.
func (a *arrowKeys) next(cursor int) (undo *arrowPress, wheel bool) {
	now, last := a.now(), a.pressed
	wheel = now.Sub(a.at) < keyInterval
	a.at, a.pressed = now, nil
	if wheel {
		return last, true
	}
	a.pressed = &arrowPress{cursor: cursor}
	return nil, false
}

// recalled records that the last arrow, if it was a key press, made a step through earlier messages.
func (a *arrowKeys) recalled(by int) {
	if a.pressed != nil {
		a.pressed.recalled = by
	}
}

package sessionview

import "time"

// keyInterval is the shortest time between two key presses of a user. A terminal that does not
// report its mouse wheel sends several arrow keys at once instead.
const keyInterval = 10 * time.Millisecond

// arrowKeys distinguishes the arrow keys of a mouse wheel from those of the keyboard.
type arrowKeys struct {
	lastAt      time.Time // when the last arrow arrived
	lastWasKey  bool      // it was handled as a key press
	recallSteps int       // steps it made through earlier messages: 1, 0 or -1
}

// wheelArrow scrolls by a line if an arrow comes from a mouse wheel, and reports whether it does.
// The first arrow of a burst was handled as a key press: wheelArrow undoes its effect and scrolls
// by one line more.
func (v *View) wheelArrow(by int) bool {
	now := v.Now()
	if now.Sub(v.pressed.arrows.lastAt) >= keyInterval {
		v.pressed.arrows = arrowKeys{lastAt: now, lastWasKey: true}
		return false
	}
	v.status.Clear()
	if v.pressed.arrows.recallSteps != 0 {
		v.composer.Recall(-v.pressed.arrows.recallSteps, v.replica.conn.By)
	}
	list := v.transcript.view.List
	if v.pressed.arrows.lastWasKey {
		list.Scroll(-by)
	}
	v.pressed.arrows = arrowKeys{lastAt: now}
	list.Scroll(-by)
	return true
}

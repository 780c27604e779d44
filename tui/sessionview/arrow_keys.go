package sessionview

import "time"

// keyInterval is the least time between two keys of a user. A terminal whose wheel is not reported types
// arrows in its stead, several at once.
const keyInterval = 10 * time.Millisecond

// arrowKeys tells the arrows of a mouse wheel from arrow keys.
type arrowKeys struct {
	lastAt      time.Time // an arrow came
	lastWasKey  bool      // it was taken for a key
	recallSteps int       // and moved the walk through earlier messages by this
}

// wheelArrow scrolls when an arrow comes from a wheel, and reports whether it does. The first arrow of a turn
// of the wheel was taken for a key: its effect is undone and it scrolls too.
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

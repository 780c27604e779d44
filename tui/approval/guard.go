package approval

import "time"

// Grace is the time without a key press after which a request accepts a decision. It protects the
// request from keys pressed before it was visible or had the focus.
const Grace = 600 * time.Millisecond

// Guard blocks the decision of a request until Grace has passed, and the first key after the
// request appeared. The zero value blocks decisions until Arm is called.
type Guard struct {
	armed bool
	until time.Time
	keys  int // pressed since the request appeared
}

// Armed reports whether the grace period is over.
func (g *Guard) Armed() bool { return g.armed }

// Ready reports whether the key being handled may decide. Touch must have been called for it.
func (g *Guard) Ready() bool { return g.armed && g.keys > 1 }

// Reset blocks decisions on a request that appears now.
func (g *Guard) Reset(now time.Time) {
	g.keys = 0
	g.Rearm(now)
}

// Rearm blocks decisions until Grace after now.
func (g *Guard) Rearm(now time.Time) { g.armed, g.until = false, now.Add(Grace) }

// Touch records a key press. It restarts the grace period unless that is over.
func (g *Guard) Touch(now time.Time) {
	g.keys++
	if !g.armed {
		g.until = now.Add(Grace)
	}
}

// Deadline returns the time to call Arm, or zero if the grace period is over.
func (g *Guard) Deadline() time.Time {
	if g.armed {
		return time.Time{}
	}
	return g.until
}

// Arm makes the request accept decisions if the grace period is over, and reports whether this call
// did so.
func (g *Guard) Arm(now time.Time) (armed bool) {
	if g.armed || now.Before(g.until) {
		return false
	}
	g.armed = true
	return true
}

package approval

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// Grace is the time without a key press after which a request accepts a decision. It protects the
// request from keys pressed before it was visible or had the focus.
const Grace = 600 * time.Millisecond

// Guard blocks the decision of a request until Grace has passed, and the first key after the
// request appeared. The zero value blocks decisions until Arm is called.
type Guard struct {
	armed        bool
	until        time.Time
	timerRunning bool
	keys         int // pressed since the request appeared
}

// GuardMsg is sent when the timer of a guard ends. Its receiver calls Wake and then Arm.
type GuardMsg struct{ guard *Guard }

// For reports whether the message belongs to g.
func (m GuardMsg) For(g *Guard) bool { return m.guard == g }

// Wake records that the timer has ended.
func (m GuardMsg) Wake() { m.guard.timerRunning = false }

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

// Arm makes the request accept decisions if the grace period is over, and reports whether this call
// did so. Otherwise it returns the timer to start. The command is nil if the guard is armed or its
// timer is running.
func (g *Guard) Arm(now time.Time, after func(time.Duration, tea.Msg) tea.Cmd) (cmd tea.Cmd, armed bool) {
	if g.armed || g.timerRunning {
		return nil, false
	}
	if wait := g.until.Sub(now); wait > 0 {
		g.timerRunning = true
		return after(wait, GuardMsg{g}), false
	}
	g.armed = true
	return nil, true
}

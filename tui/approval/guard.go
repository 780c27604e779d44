package approval

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// Grace is the time without a key press after which a new request accepts keys. It protects the
// request from keys pressed before it was visible.
const Grace = 600 * time.Millisecond

// Guard blocks the keys of a new request until Grace has passed. The zero value blocks keys until
// Arm is called.
type Guard struct {
	armed        bool
	until        time.Time
	timerRunning bool
}

// GuardMsg is sent when the timer of a guard ends. Its receiver calls Wake and then Arm.
type GuardMsg struct{ guard *Guard }

// For reports whether the message belongs to g.
func (m GuardMsg) For(g *Guard) bool { return m.guard == g }

// Wake records that the timer has ended.
func (m GuardMsg) Wake() { m.guard.timerRunning = false }

// Armed reports whether the request accepts keys.
func (g *Guard) Armed() bool { return g.armed }

// Reset blocks keys until Grace after now.
func (g *Guard) Reset(now time.Time) { g.armed, g.until = false, now.Add(Grace) }

// Touch restarts the grace period after a key press. It has no effect on an armed guard.
func (g *Guard) Touch(now time.Time) {
	if !g.armed {
		g.until = now.Add(Grace)
	}
}

// Arm makes the request accept keys if the grace period is over, and reports whether this call did
// so. Otherwise it returns the timer to start. The command is nil if the guard is armed or its
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

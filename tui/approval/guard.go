package approval

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// Grace is the time without a key press after which a new request takes keys. Keys that were in flight when
// it appeared were not meant for it.
const Grace = 600 * time.Millisecond

// Guard keeps a new request from taking keys before Grace has passed.
type Guard struct {
	armed        bool
	until        time.Time
	timerRunning bool
}

// GuardMsg says that the grace of a request may be over. Its receiver calls Wake and then Arm.
type GuardMsg struct{ guard *Guard }

// For reports whether the message is for a guard.
func (m GuardMsg) For(g *Guard) bool { return m.guard == g }

// Wake notes that the timer has ended.
func (m GuardMsg) Wake() { m.guard.timerRunning = false }

// Armed reports whether the request takes keys.
func (g *Guard) Armed() bool { return g.armed }

// Reset starts the grace of a new request.
func (g *Guard) Reset(now time.Time) { g.armed, g.until = false, now.Add(Grace) }

// Touch starts the grace over after a key press, unless it has passed.
func (g *Guard) Touch(now time.Time) {
	if !g.armed {
		g.until = now.Add(Grace)
	}
}

// Arm lets the request take keys when the grace has passed, and reports whether it did so now. Else it
// returns the timer to start, or nil.
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

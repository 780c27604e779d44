package upkeep

import "time"

const (
	clockStep  = time.Minute // from which a difference between wall clock and elapsed time is a jump
	clockGrace = time.Hour   // after a jump, for users to set a wrong clock right
)

// A clock knows whether the wall clock was set forward a short time ago. The zero clock trusts it.
// It does not know the time before the process began.
type clock struct {
	wait time.Duration // until the wall clock is trusted
}

// advance notes that the wall clock has advanced while some time elapsed, and reports a jump. A
// machine that was suspended jumps too.
func (c *clock) advance(wall, elapsed time.Duration) (jumped bool) {
	if wall-elapsed >= clockStep {
		c.wait = clockGrace
		return true
	}
	if c.wait -= elapsed; wall-elapsed <= -clockStep || c.wait < 0 { // set back: right again
		c.wait = 0
	}
	return false
}

func (c *clock) trusted() bool { return c.wait == 0 }

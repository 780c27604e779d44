package upkeep

import (
	"testing"
	"time"

	"agentctl/protocol"
)

// A clock that is set forward makes every session old. Nothing is removed by its age before there
// was time to set the clock right.
func TestAClockThatJumpsRemovesNothingForAWhile(t *testing.T) {
	start := time.Unix(1e9, 0)
	r := Remover{Retention: Retention{Age: time.Hour}, Sessions: func() []protocol.Summary {
		return []protocol.Summary{{Session: "a", Updated: start}}
	}}
	for i, c := range []struct {
		wall, elapsed time.Duration
		jumped        bool
		removed       int
	}{
		{10 * time.Second, 10 * time.Second, false, 1},
		{30 * time.Second, 10 * time.Second, false, 1}, // adjusted, as by a time server
		{365 * 24 * time.Hour, 10 * time.Second, true, 0},
		{10 * time.Second, 10 * time.Second, false, 0},
		{59 * time.Minute, 59 * time.Minute, false, 0},
		{time.Minute, time.Minute, false, 1},
		{24 * time.Hour, time.Second, true, 0},
		{-24 * time.Hour, time.Second, false, 1}, // set right
	} {
		if jumped := r.clock.advance(c.wall, c.elapsed); jumped != c.jumped {
			t.Errorf("%d: jumped: %v", i, jumped)
		}
		if removed := r.Expired(t.Context(), start.Add(2*time.Hour)); len(removed) != c.removed {
			t.Errorf("%d: removed %v", i, removed)
		}
	}
}

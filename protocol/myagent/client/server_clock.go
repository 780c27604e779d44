package client

import (
	"time"
)

// A serverClock reads the server's times. MyAgent writes its local time without a zone, so the
// clock measures the difference to the client's own clock: a frame's time against its arrival.
type serverClock struct {
	offset   time.Duration // from the server's local time, read as UTC, to the client's clock
	measured bool
}

// maxClockError is the difference between a time and its arrival above which the offset is measured
// again: the server's clock was changed, or its zone changed to summer time.
const maxClockError = 15 * time.Minute

// read returns the time of a frame that arrived now. replayed means that the frame is older, so its
// arrival is not used as the time. A frame without a valid time gets now.
func (c *serverClock) read(timestamp string, now time.Time, replayed bool) time.Time {
	if t, err := time.Parse(time.RFC3339Nano, timestamp); err == nil && validYear(t) {
		return t
	}
	t, err := time.Parse("2006-01-02T15:04:05.999999999", timestamp)
	if err != nil || !validYear(t) {
		return now
	}
	if !replayed && (!c.measured || t.Add(c.offset).Sub(now).Abs() > maxClockError) {
		c.offset, c.measured = now.Sub(t), true
	}
	if !c.measured {
		return now
	}
	return t.Add(c.offset)
}

func validYear(t time.Time) bool { return t.Year() > 1970 && t.Year() < 3000 }

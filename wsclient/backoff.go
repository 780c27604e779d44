package wsclient

import "time"

// Bounds of the delay before an attempt.
const (
	firstDelay  = 500 * time.Millisecond
	delayGrowth = 1.5
	maxDelay    = 5 * time.Second
)

// retrySpacing is the least time between the starts of two attempts when somebody asks for them.
const retrySpacing = 250 * time.Millisecond

// delay returns how long to wait before an attempt, counted from 1: 500 ms, half as long again each time, at most 5 s, of which
// r in [0,1) takes away up to a half, so that the clients of a restarted server do not come all at once.
func delay(attempt int, r float64) time.Duration {
	d := float64(firstDelay)
	for range attempt - 1 {
		if d *= delayGrowth; d >= float64(maxDelay) {
			d = float64(maxDelay)
			break
		}
	}
	return time.Duration(d * (1 - r/2))
}

// maxDoubled bounds how often a dialect's delay doubles.
const maxDoubled = 6

// delay is the dialect's where it has one of its own.
func (d *dialer) delay(attempt int, r float64) time.Duration {
	if d.dialect == nil || d.dialect.Retry.Delay == 0 {
		return delay(attempt, r)
	}
	fixed := d.dialect.Retry.Delay
	if d.call.Options["backoff"] == "exponential" {
		fixed <<= min(attempt-1, maxDoubled)
	}
	return fixed
}

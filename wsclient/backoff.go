package wsclient

import (
	"math"
	"time"
)

// Bounds of the delay before an attempt.
const (
	firstDelay  = 500 * time.Millisecond
	delayGrowth = 1.5
	maxDelay    = 5 * time.Second
)

// retrySpacing is the least time between the starts of two attempts made by Retry.
const retrySpacing = 250 * time.Millisecond

// backoff returns the delay before an attempt, counted from 1: 500 ms, growing by half, at most
// 5 s. Random r in [0,1) reduces it by up to half, to spread the clients of a restarted server.
func backoff(attempt int, r float64) time.Duration {
	d := min(float64(firstDelay)*math.Pow(delayGrowth, float64(attempt-1)), float64(maxDelay))
	return time.Duration(d * (1 - r/2))
}

// maxDoublings bounds how often a dialect's delay doubles.
const maxDoublings = 6

// delay returns the dialect's delay, or the native one if the dialect defines none.
func (d *dialer) delay(attempt int, r float64) time.Duration {
	if d.dialect == nil || d.dialect.Retry.Delay == 0 {
		return backoff(attempt, r)
	}
	fixed := d.dialect.Retry.Delay
	if d.codecOptions.Options["backoff"] == "exponential" {
		fixed <<= min(attempt-1, maxDoublings)
	}
	return fixed
}

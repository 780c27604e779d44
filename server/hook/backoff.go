package hook

import (
	"math/rand/v2"
	"time"
)

const (
	firstDelay = time.Second
	maxDelay   = 5 * time.Minute
)

// delay returns the time to wait after a number of failures: doubled each time, and spread, so that
// hooks of many servers do not come at once.
func delay(failures int) time.Duration {
	d := maxDelay
	if failures < 10 {
		d = min(firstDelay<<max(0, failures-1), maxDelay)
	}
	return d/2 + rand.N(d/2)
}

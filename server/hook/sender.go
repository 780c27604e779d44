package hook

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// A sender sends one notification. It returns nil when the receiver has it.
type sender interface {
	send(ctx context.Context, id string, body []byte) error

	// close releases resources that the sender keeps between notifications.
	close()
}

// A failure is why an attempt failed.
type failure struct {
	reason  string
	absent  bool          // the receiver is not there: the attempt does not count
	final   bool          // the receiver will never take this notification
	waiting time.Duration // that the receiver asks for; 0: none
}

func (f *failure) Error() string { return f.reason }

func failf(format string, args ...any) *failure {
	return &failure{reason: fmt.Sprintf(format, args...)}
}

const (
	firstDelay = time.Second
	maxDelay   = 5 * time.Minute
)

// delay returns the time to wait after a number of failures: doubled each time, and spread, so that
// hooks of many servers do not send simultaneously.
func delay(failures int) time.Duration {
	d := maxDelay
	if failures < 10 {
		d = min(firstDelay<<max(0, failures-1), maxDelay)
	}
	return d/2 + rand.N(d/2)
}

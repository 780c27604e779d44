package llm

import (
	"context"
	"math/rand/v2"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent/llm/model"
)

// The bounds of retries.
const (
	maxAttempts = 6                // failures in a row that end the turn, with the first attempt
	maxFailures = 20               // of one response, including failures between its pieces
	firstDelay  = time.Second      // doubled after each failure
	maxDelay    = time.Minute      // of our own choice
	maxAfter    = 10 * time.Minute // that a provider may ask for
)

// A retryPolicy counts the failures of one response.
type retryPolicy struct {
	row   int // since the last progress
	total int
}

// next returns the delay before the next attempt, or false if no attempt is left.
func (r *retryPolicy) next(e *model.Error, progress bool) (time.Duration, bool) {
	if progress {
		r.row = 0
	}
	r.row++
	r.total++
	if !e.Temporary() || r.row >= maxAttempts || r.total >= maxFailures || e.After > maxAfter {
		return 0, false
	}
	if e.After > 0 {
		return e.After, true
	}
	delay := min(maxDelay, firstDelay<<(r.row-1))
	return delay/2 + rand.N(delay/2), true //nolint:gosec // jitter needs no secure source
}

// showRetry shows a failure to users.
func (t *turnRun) showRetry(r *retryPolicy, e *model.Error, delay time.Duration) error {
	code := protocol.CodeAgentFailed
	if e.Class == model.Timeout {
		code = protocol.CodeTimeout
	}
	return t.emit(protocol.RetryScheduled, protocol.RetryData{
		Attempt: r.row, Limit: maxAttempts - 1, DelayMS: delay.Milliseconds(), Cause: e.Error(), Code: code,
	})
}

// wait waits for a delay or the end of ctx.
func wait(ctx context.Context, delay time.Duration) error {
	select {
	case <-time.After(delay):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

package wsclient

import (
	"sync/atomic"
	"time"
)

// Events are acknowledged at the latest after half the window, which all subscriptions share, or
// ackDelay after the first unacknowledged one. If no more events wait, a quarter of the window or
// ackIdleBytes suffices. The number of events does not count: an ack for some small events would
// cost more than they do.
const (
	ackDelay     = 50 * time.Millisecond
	ackIdleBytes = 64 << 10
)

// An ackBatch counts consumed, unacknowledged events. Owned by the consumer's goroutine.
type ackBatch struct {
	events int
	bytes  int64
	owed   *atomic.Int64 // of all batches of the client
	timer  *time.Timer   // runs while events > 0
}

func newAckBatch(owed *atomic.Int64) *ackBatch {
	b := &ackBatch{owed: owed, timer: time.NewTimer(time.Hour)}
	b.timer.Stop()
	return b
}

// add counts a consumed entry. It returns true if an acknowledgement is due. A window of 0 means
// no acknowledgements.
func (b *ackBatch) add(e *entry, window int64) (due bool) {
	if e.Attached != nil { // earlier events belong to a previous attachment
		b.reset()
		return false
	}
	if window <= 0 || !e.Event.Durable() {
		return false
	}
	if b.events++; b.events == 1 {
		b.timer.Reset(ackDelay)
	}
	b.bytes += e.bytes
	owed := b.owed.Add(e.bytes)
	select {
	case <-b.timer.C:
		return true
	default:
		return owed >= window/2
	}
}

// dueWhenIdle returns true if an acknowledgement is due because no more events wait: the server may
// need it to continue.
func (b *ackBatch) dueWhenIdle(window int64) bool {
	return b.events > 0 && b.bytes >= min(window/4, ackIdleBytes)
}

func (b *ackBatch) reset() {
	b.owed.Add(-b.bytes)
	b.events, b.bytes = 0, 0
	b.timer.Stop()
}

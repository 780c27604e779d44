package wsclient

import "time"

// When to acknowledge, at the latest: after half the window, ackEvents, or ackWithin of the first event that was not; when nothing
// more is there after a quarter of the window or ackDry bytes.
const (
	ackEvents = 64
	ackWithin = 50 * time.Millisecond
	ackDry    = 64 << 10
)

// acks counts what a consumer took and did not yet acknowledge. Owned by the consumer's goroutine.
type acks struct {
	events int
	bytes  int64
	timer  *time.Timer // runs while there is something to acknowledge
}

func newAcks() *acks {
	a := &acks{timer: time.NewTimer(time.Hour)}
	a.timer.Stop()
	return a
}

// took counts an entry; true when it is time to acknowledge. A window of 0 wants no acks.
func (a *acks) took(e *entry, window int64) bool {
	if e.Attached != nil { // what was taken before it is of the past
		a.reset()
		return false
	}
	if window <= 0 || !e.Event.Durable() {
		return false
	}
	if a.events++; a.events == 1 {
		a.timer.Reset(ackWithin)
	}
	a.bytes += e.bytes
	select {
	case <-a.timer.C:
		return true
	default:
		return a.events >= ackEvents || a.bytes >= window/2
	}
}

// dry is called when nothing more is there; true when the server may be waiting for the acknowledgement to go on.
func (a *acks) dry(window int64) bool { return a.events > 0 && a.bytes >= min(window/4, ackDry) }

func (a *acks) reset() {
	a.events, a.bytes = 0, 0
	a.timer.Stop()
}

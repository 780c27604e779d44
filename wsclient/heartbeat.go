package wsclient

import (
	"errors"
	"time"
)

// errNoPong ends a connection whose server did not answer a ping in time.
var errNoPong = errors.New("the server does not respond")

// A heartbeat decides when to ping a silent server and when to give it up. Owned by the event
// loop.
type heartbeat struct {
	interval time.Duration
	timer    *time.Timer
	last     time.Time // of the last activity
	pinged   time.Time // of the unanswered ping; zero: none

	received int64 // bytes received at the last check
}

func newHeartbeat(interval time.Duration) heartbeat {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return heartbeat{interval: interval, timer: t}
}

func (h *heartbeat) start(received int64) {
	h.received = received
	h.recordActivity()
	h.timer.Reset(h.interval)
}

func (h *heartbeat) stop() { h.timer.Stop() }

// recordActivity notes that the server sent something.
func (h *heartbeat) recordActivity() { h.last, h.pinged = time.Now(), time.Time{} }

// check is called when the timer fires. It reports whether a ping is due; the error is errNoPong if
// the last one was not answered. received is the number of bytes received so far: an incomplete large
// message counts as activity. While reading is paused, silence proves nothing.
func (h *heartbeat) check(received int64, paused bool) (ping bool, err error) {
	if paused || received != h.received {
		h.recordActivity()
	}
	h.received = received
	if !h.pinged.IsZero() {
		return false, errNoPong
	}
	silence := time.Since(h.last)
	if silence < h.interval {
		h.timer.Reset(h.interval - silence)
		return false, nil
	}
	h.pinged = time.Now()
	h.timer.Reset(h.interval)
	return true, nil
}

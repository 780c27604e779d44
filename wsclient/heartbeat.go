package wsclient

import "time"

// A heartbeat decides when a silent server is asked whether it is there, and when it is not. Owned by the loop.
type heartbeat struct {
	every  time.Duration
	timer  *time.Timer
	last   time.Time // something was heard
	pinged time.Time // the ping that waits for an answer; zero: none

	received int64 // as of the last beat
}

// A beat is what a heartbeat wants done.
type beat int

const (
	beatNothing beat = iota
	beatPing
	beatDead
)

func newHeartbeat(every time.Duration) heartbeat {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return heartbeat{every: every, timer: t}
}

func (h *heartbeat) start(received int64) {
	h.received = received
	h.heard()
	h.timer.Reset(h.every)
}

func (h *heartbeat) stop() { h.timer.Stop() }

// heard says that the server said something, whatever it was.
func (h *heartbeat) heard() { h.last, h.pinged = time.Now(), time.Time{} }

// due is called when the timer fires. A large message on a slow link is not silence: received is how many bytes came. And
// silence proves nothing while deaf, when nobody reads.
func (h *heartbeat) due(received int64, deaf bool) beat {
	if deaf || received != h.received {
		h.heard()
	}
	h.received = received
	if !h.pinged.IsZero() {
		return beatDead
	}
	silent := time.Since(h.last)
	if silent < h.every {
		h.timer.Reset(h.every - silent)
		return beatNothing
	}
	h.pinged = time.Now()
	h.timer.Reset(h.every)
	return beatPing
}

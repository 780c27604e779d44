package wsclient

import "time"

// A heartbeat decides when a silent server is asked whether it is there, and when it is not. Owned by the loop.
type heartbeat struct {
	every  time.Duration
	timer  *time.Timer
	last   time.Time // something was heard
	pinged time.Time // the ping that waits for an answer; zero: none
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

func (h *heartbeat) start() {
	h.heard()
	h.timer.Reset(h.every)
}

func (h *heartbeat) stop() { h.timer.Stop() }

// heard says that the server said something, whatever it was.
func (h *heartbeat) heard() { h.last, h.pinged = time.Now(), time.Time{} }

// due is called when the timer fires. Silence proves nothing while deaf: nobody reads.
func (h *heartbeat) due(deaf bool) beat {
	if deaf {
		h.heard()
	}
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

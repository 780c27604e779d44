package server

import (
	"context"
	"sync"
	"time"

	"github.com/coder/websocket"

	"agentctl/protocol"
)

// A writer is the goroutine that writes to a connection, and what it alone owns.
type writer struct {
	*conn
	stalled *time.Timer     // runs during a write
	rota    []*subscription // those of the connection, as seen last
	due     int             // who of them is asked first
}

// buffers hold what is being written, so that a connection with nothing to write holds none.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, maxWrite); return &b }}

// write is the connection's writer. A write that takes longer than the limit ends the connection: the client is dead, and
// resumes if it is not.
func (c *conn) write() {
	w := &writer{conn: c}
	w.stalled = time.AfterFunc(time.Hour, func() {
		c.close(protocol.CloseSlow, "nothing was read for too long")
		c.cut()
	})
	w.stalled.Stop()
	defer func() { _ = c.wire.CloseNow() }()
	beat := time.NewTimer(c.server.limits.Heartbeat)
	defer beat.Stop()
	for {
		c.parked.Store(true) // before looking, so that no wake is lost
		wrote, ok := w.once()
		switch {
		case !ok:
			return
		case c.ended():
			w.finish()
			return
		case wrote:
			continue
		}
		select {
		case <-c.wake:
		case <-c.over:
		case <-beat.C:
			if !w.beat() {
				return
			}
			beat.Reset(c.server.limits.Heartbeat)
		}
	}
}

// send writes a message; false when the connection is over.
func (w *writer) send(b []byte) bool {
	w.stalled.Reset(w.server.limits.Write)
	err := w.wire.Write(context.Background(), b)
	w.stalled.Stop()
	if err != nil {
		w.close(websocket.StatusAbnormalClosure, "")
	}
	return err == nil
}

// once writes the control buffer, or else what the next subscription in turn has.
func (w *writer) once() (wrote, ok bool) {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	w.mu.Lock()
	b, answers := w.control.take((*buf)[:0])
	w.rota = append(w.rota[:0], w.subs...)
	w.mu.Unlock()
	if len(b) > 0 {
		ok := w.send(b)
		for range answers {
			<-w.slots
		}
		return true, ok
	}
	for i := range w.rota {
		at := (w.due + i) % len(w.rota)
		if lines := w.next(w.rota[at], (*buf)[:0]); len(lines) > 0 {
			w.due = at + 1
			return true, w.send(lines)
		}
	}
	return false, true
}

// finish writes the answers that wait and, when the server goes, what became visible; then it closes the connection with its
// code.
func (w *writer) finish() {
	w.mu.Lock()
	code, reason := w.code, w.reason
	w.mu.Unlock()
	if code == websocket.StatusAbnormalClosure {
		return
	}
	for begun := time.Now(); time.Since(begun) < farewell/2; {
		wrote, ok := w.once()
		if !ok {
			return
		}
		if !wrote || code != protocol.CloseGoingAway {
			break
		}
	}
	_ = w.wire.Close(code, reason)
}

// beat tells a silent client that the server is there, and asks one that says nothing whether it is.
func (w *writer) beat() bool {
	w.mu.Lock()
	silent := time.Since(w.heard) >= w.server.limits.Heartbeat
	w.mu.Unlock()
	if silent {
		w.pings.Go(w.ping)
	}
	e := protocol.Event{Type: protocol.Heartbeat, Time: time.Now(), Data: protocol.MustEncode(protocol.HeartbeatData{Server: w.server.version})}
	return w.send(append(e.AppendJSON(nil), '\n'))
}

// ping ends the connection when its client is not there. The writer does not wait for it: the pong may stand behind commands
// that wait for their answers to be written.
func (c *conn) ping() {
	ctx, cancel := context.WithTimeout(context.Background(), c.server.limits.Heartbeat)
	defer cancel()
	if c.wire.Ping(ctx) != nil {
		c.close(websocket.StatusAbnormalClosure, "no answer to a ping")
		c.cut()
	}
}

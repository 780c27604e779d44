package server

import (
	"context"
	"sync"
	"time"

	"github.com/coder/websocket"

	"agentctl/protocol"
)

// A writer is the writing goroutine of a connection, with the state that only it uses.
type writer struct {
	*conn
	stalled *time.Timer     // runs during a write
	subs    []*subscription // of the outbox, as of the last write
	nextSub int             // index of the subscription to write first
}

// buffers holds write buffers, so that an idle connection has none.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, maxWrite); return &b }}

// writeLoop writes the outbox until the connection ends. A write that takes longer than
// Limits.Write ends the connection; a client that lives reconnects and resumes.
func (c *conn) writeLoop() {
	w := &writer{conn: c}
	w.stalled = time.AfterFunc(time.Hour, func() {
		c.close(protocol.CloseSlow, "the client did not read for too long")
		c.abort()
	})
	w.stalled.Stop()
	defer func() { _ = c.transport.CloseNow() }()
	heartbeat := time.NewTimer(c.server.limits.Load().Heartbeat)
	defer heartbeat.Stop()
	for {
		c.waiting.Store(true) // before looking, so that no wake is lost
		wrote, ok := w.writeNext()
		switch {
		case !ok:
			return
		case c.closed():
			w.finish()
			return
		case wrote:
			continue
		}
		select {
		case <-c.wake:
		case <-c.closing.ctx.Done():
		case <-heartbeat.C:
			if !w.heartbeat() {
				return
			}
			heartbeat.Reset(c.server.limits.Load().Heartbeat)
		}
	}
}

// send writes a message. It returns false when the connection has failed.
func (w *writer) send(b []byte) bool {
	w.stalled.Reset(w.server.limits.Load().Write)
	err := w.transport.Write(context.Background(), b)
	w.stalled.Stop()
	if err != nil {
		w.close(websocket.StatusAbnormalClosure, "")
	}
	return err == nil
}

// writeNext writes the control buffer or, if it is empty, the lines of the next subscription in
// turn.
func (w *writer) writeNext() (wrote, ok bool) {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	var b []byte
	var answers int
	b, answers, w.subs = w.take((*buf)[:0], w.subs[:0])
	if len(b) > 0 {
		ok := w.send(b)
		for range answers {
			<-w.slots
		}
		return true, ok
	}
	for i := range w.subs {
		at := (w.nextSub + i) % len(w.subs)
		if lines := w.next(w.subs[at], (*buf)[:0]); len(lines) > 0 {
			w.nextSub = at + 1
			return true, w.send(lines)
		}
	}
	return false, true
}

// finish writes the waiting answers and, at a shutdown of the server, the last visible events; then
// it closes the connection with its code.
func (w *writer) finish() {
	code := w.closing.code
	if code == websocket.StatusAbnormalClosure {
		return
	}
	for start := time.Now(); time.Since(start) < closeTimeout/2; {
		wrote, ok := w.writeNext()
		if !ok {
			return
		}
		if !wrote || code != protocol.CloseGoingAway {
			break
		}
	}
	_ = w.transport.Close(code, w.closing.reason)
}

// heartbeat sends a heartbeat, and a ping to a client that has been silent for a heartbeat
// interval.
func (w *writer) heartbeat() bool {
	w.mu.Lock()
	silent := time.Since(w.lastRead) >= w.server.limits.Load().Heartbeat
	w.mu.Unlock()
	if silent {
		w.pings.Go(w.ping)
	}
	e := protocol.Event{
		Type: protocol.Heartbeat,
		Time: time.Now(),
		Data: protocol.MustEncode(protocol.HeartbeatData{Server: w.server.version}),
	}
	return w.send(append(e.AppendJSON(nil), '\n'))
}

// ping ends the connection unless the client answers a ping. The writer does not wait for it,
// because the pong may be behind commands that wait for their answers to be written.
func (c *conn) ping() {
	ctx, cancel := context.WithTimeout(context.Background(), c.server.limits.Load().Heartbeat)
	defer cancel()
	if c.transport.Ping(ctx) != nil {
		c.close(websocket.StatusAbnormalClosure, "no answer to a ping")
		c.abort()
	}
}

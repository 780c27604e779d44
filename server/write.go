package server

import (
	"context"
	"time"

	"github.com/coder/websocket"

	"agentctl/protocol"
)

// write is the connection's writer. A write that takes longer than the limit ends the connection: the client is dead, and
// resumes if it is not.
func (c *conn) write() {
	stalled := time.AfterFunc(time.Hour, func() {
		c.close(protocol.CloseSlow, "nothing was read for too long")
		_ = c.ws.CloseNow()
	})
	stalled.Stop()
	send := func(b []byte) bool {
		stalled.Reset(c.server.limits.Write)
		err := c.ws.Write(context.Background(), websocket.MessageText, b)
		stalled.Stop()
		if err != nil {
			c.close(websocket.StatusAbnormalClosure, "")
		}
		return err == nil
	}
	beat := time.NewTimer(c.server.limits.Heartbeat)
	defer beat.Stop()
	turn := 0
	var buf []byte
	for {
		c.parked.Store(true) // before looking, so that no wake is lost
		wrote, ok := c.writeOnce(&turn, &buf, send)
		if !ok {
			_ = c.ws.CloseNow()
			return
		}
		select {
		case <-c.over:
			c.finish(&turn, &buf, send)
			return
		default:
			if wrote {
				continue
			}
		}
		select {
		case <-c.wake:
		case <-c.over:
			c.finish(&turn, &buf, send)
			return
		case <-beat.C:
			if !c.beat(send) {
				_ = c.ws.CloseNow()
				return
			}
			beat.Reset(c.server.limits.Heartbeat)
		}
	}
}

// finish writes the answers that wait and, when the server goes, what became visible; then it closes the connection with its
// code.
func (c *conn) finish(turn *int, buf *[]byte, send func([]byte) bool) {
	defer c.ws.CloseNow()
	c.mu.Lock()
	code, reason := c.code, c.reason
	c.mu.Unlock()
	if code == websocket.StatusAbnormalClosure {
		return
	}
	begun := time.Now()
	for {
		wrote, ok := c.writeOnce(turn, buf, send)
		if !ok {
			return
		}
		if !wrote || code != protocol.CloseGoingAway || time.Since(begun) > farewell/2 {
			break
		}
	}
	_ = c.ws.Close(code, reason)
}

// beat tells a silent client that the server is there, and asks one that says nothing whether it is.
func (c *conn) beat(send func([]byte) bool) bool {
	c.mu.Lock()
	silent := time.Since(c.heard) >= c.server.limits.Heartbeat
	c.mu.Unlock()
	if silent {
		c.pings.Go(c.ping)
	}
	e := protocol.Event{Type: protocol.Heartbeat, Time: time.Now(), Data: protocol.MustEncode(protocol.HeartbeatData{Server: c.server.version})}
	return send(append(e.AppendJSON(nil), '\n'))
}

// ping ends the connection when its client is not there. The writer does not wait for it: the pong may stand behind commands
// that wait for their answers to be written.
func (c *conn) ping() {
	ctx, cancel := context.WithTimeout(context.Background(), c.server.limits.Heartbeat)
	defer cancel()
	if c.ws.Ping(ctx) != nil {
		c.close(websocket.StatusAbnormalClosure, "no answer to a ping")
		c.cut()
	}
}

// writeOnce writes the control buffer, or else what the next subscription in turn has.
func (c *conn) writeOnce(turn *int, buf *[]byte, send func([]byte) bool) (wrote, ok bool) {
	c.mu.Lock()
	b, answers := c.control.take((*buf)[:0])
	subs := c.subs
	n := len(subs)
	order := make([]*subscription, n)
	for i := range n {
		order[i] = subs[(*turn+i)%n]
	}
	c.mu.Unlock()
	if *buf = b; len(b) > 0 {
		ok := send(b)
		for range answers {
			<-c.slots
		}
		if cap(b) > maxWrite {
			*buf = nil
		}
		return true, ok
	}
	for i, sub := range order {
		if lines := c.next(sub); len(lines) > 0 {
			*turn += i + 1
			return true, send(lines)
		}
	}
	return false, true
}

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
		_ = c.wire.CloseNow()
	})
	stalled.Stop()
	send := func(b []byte) bool {
		stalled.Reset(c.server.limits.Write)
		err := c.wire.Write(context.Background(), b)
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
			_ = c.wire.CloseNow()
			return
		}
		if wrote {
			select {
			case <-c.over:
			default:
				continue
			}
		}
		select {
		case <-c.wake:
		case <-c.over:
			c.finish(send)
			return
		case <-beat.C:
			if !c.beat(send) {
				_ = c.wire.CloseNow()
				return
			}
			beat.Reset(c.server.limits.Heartbeat)
		}
	}
}

// finish writes the answers that wait and closes the connection with its code.
func (c *conn) finish(send func([]byte) bool) {
	c.mu.Lock()
	b, slots := c.control.take(nil)
	code, reason := c.code, c.reason
	c.mu.Unlock()
	alive := code != websocket.StatusAbnormalClosure
	if len(b) > 0 && alive {
		alive = send(b)
	}
	for range slots {
		<-c.slots
	}
	if alive {
		_ = c.wire.Close(code, reason)
	}
	_ = c.wire.CloseNow()
}

// beat tells a silent client that the server is there, and ends a connection whose client is not.
func (c *conn) beat(send func([]byte) bool) bool {
	period := c.server.limits.Heartbeat
	c.mu.Lock()
	silent := time.Since(c.heard) >= period
	c.mu.Unlock()
	if silent {
		ctx, cancel := context.WithTimeout(context.Background(), period)
		defer cancel()
		if c.wire.Ping(ctx) != nil {
			c.close(websocket.StatusAbnormalClosure, "no answer to a ping")
			return false
		}
	}
	e := protocol.Event{Type: protocol.Heartbeat, Time: time.Now(), Data: protocol.MustEncode(protocol.HeartbeatData{Server: c.server.version})}
	return send(append(e.AppendJSON(nil), '\n'))
}

// writeOnce writes the control buffer, or else what the next subscription in turn has.
func (c *conn) writeOnce(turn *int, buf *[]byte, send func([]byte) bool) (wrote, ok bool) {
	c.mu.Lock()
	b, slots := c.control.take((*buf)[:0])
	subs := c.subs
	n := len(subs)
	order := make([]*subscription, n)
	for i := range n {
		order[i] = subs[(*turn+i)%n]
	}
	c.mu.Unlock()
	if *buf = b; len(b) > 0 {
		ok := send(b)
		for range slots {
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

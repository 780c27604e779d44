//go:build linux && soak

package soak

import (
	"net"
	"sync/atomic"
	"time"
)

// A cutConn is a connection that can be cut: immediately, or within the next message written.
type cutConn struct {
	net.Conn
	tear atomic.Bool
}

// cut ends the connection. torn: within a message.
func (c *cutConn) cut(torn bool) {
	if !torn {
		_ = c.Close()
		return
	}
	c.tear.Store(true)
	time.AfterFunc(300*time.Millisecond, func() { _ = c.Close() }) // nothing was written
}

func (c *cutConn) Write(p []byte) (int, error) {
	if !c.tear.Load() {
		return c.Conn.Write(p)
	}
	n, _ := c.Conn.Write(p[:len(p)/2])
	_ = c.Close()
	return n, net.ErrClosed
}

package server

import (
	"time"

	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// A Conn is the connection of a foreign client. It implements codec.Codec.
type Conn struct {
	exchange
	session subscription
}

// New returns the server end of a connection.
func New(o codec.ServerOptions) *Conn {
	c := &Conn{exchange: exchange{codec.ServerBase{Options: o}}}
	s := &c.session
	s.x, s.name = &c.exchange, wire.SessionOfPath(o.Path)
	s.view = view{x: s.x, sub: &s.Subscription, turn: turnEncoder{newID: o.ID}}
	return c
}

// Open implements codec.Codec.
func (c *Conn) Open(now time.Time) codec.Output {
	return c.run(now, func() {
		c.Hello(wire.Name)
		c.session.subscribe(nil)
	})
}

// Native implements codec.Codec.
func (c *Conn) Native(now time.Time, line []byte) codec.Output {
	return c.run(now, func() {
		if e := c.Receive(line); e != nil {
			c.session.event(e)
		}
	})
}

// Foreign implements codec.Codec.
func (c *Conn) Foreign(now time.Time, f codec.Frame) codec.Output {
	return c.run(now, func() {
		m, ok := wire.DecodeMessage(f)
		if !ok {
			c.fail("", wire.InvalidFormat, struct{}{})
			return
		}
		c.handleMessage(&m)
	})
}

// TooLarge reports a message over the limit.
func (c *Conn) TooLarge(now time.Time, text string) codec.Output {
	return c.run(now, func() {
		c.fail("", wire.InvalidFormat, errorDetails{Error: text, Code: protocol.CodeTooLarge})
	})
}

// Wake implements codec.Codec.
func (c *Conn) Wake(now time.Time) codec.Output {
	return c.run(now, func() { c.send(c.session.view.turn.wake(now)...) })
}

// run carries out one call of the codec.
func (c *Conn) run(now time.Time, work func()) codec.Output {
	return c.Run(now, func() {
		work()
		c.Out.WakeBy(c.session.view.turn.nextDue())
	})
}

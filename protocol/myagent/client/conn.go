package client

import (
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A Conn is agentctl's connection to a server. It implements codec.Codec.
type Conn struct {
	exchange
	sessions sessions
	openings openings
	receiver receiver

	greeted          bool // system.connected or another frame arrived, or greetingTimeout passed
	greetingDeadline time.Time
	deferred         []protocol.Command // received before the greeting
}

const (
	greetingTimeout = 2 * time.Second  // wait for the server's greeting
	requestTimeout  = 10 * time.Second // wait for a reply
	// from a cancelled plan to the end of its turn, unless the server ends it
	turnEndTimeout = 3 * time.Second

	maxDeferred = 64
	maxRequests = 64
)

// New returns the client end of a connection.
func New(o codec.ClientOptions) *Conn {
	c := &Conn{exchange: exchange{ClientBase: codec.NewClientBase(o, Responder), capabilities: map[string]bool{}}}
	x := &c.exchange
	c.sessions = sessions{x: x, resume: codec.ResumeState(o.Resume, func() *resumeState { return new(resumeState) })}
	c.openings = openings{x: x, sessions: &c.sessions, opens: map[string]*sessionOpen{}}
	c.receiver = receiver{x: x, sessions: &c.sessions}
	for _, s := range c.sessions.resume.sessions {
		s.use(x)
	}
	return c
}

// run executes one call of the codec.
func (c *Conn) run(now time.Time, work func()) codec.Output {
	return c.Run(now, func() {
		work()
		c.expire()
		for _, s := range c.sessions.resume.sessions {
			s.expire()
		}
		for _, s := range c.sessions.resume.sessions {
			s.publish()
		}
		c.scheduleWake()
	})
}

// Open implements codec.Codec.
func (c *Conn) Open(now time.Time) codec.Output {
	return c.run(now, func() { c.greetingDeadline = now.Add(greetingTimeout) })
}

// Native implements codec.Codec.
func (c *Conn) Native(now time.Time, line []byte) codec.Output {
	return c.run(now, func() {
		cmd, ok := c.Decode(line)
		switch {
		case !ok:
		case c.greeted:
			c.handleCommand(&cmd)
		default:
			c.Hold(&c.deferred, maxDeferred, &cmd)
		}
	})
}

// Foreign implements codec.Codec.
func (c *Conn) Foreign(now time.Time, f codec.Frame) codec.Output {
	return c.run(now, func() {
		if c.receiver.receive(f) && !c.greeted {
			c.finishGreeting()
		}
	})
}

// Wake implements codec.Codec.
func (c *Conn) Wake(now time.Time) codec.Output {
	return c.run(now, func() {
		if !c.greeted && !now.Before(c.greetingDeadline) {
			c.finishGreeting()
		}
	})
}

// finishGreeting executes the commands received before the greeting.
func (c *Conn) finishGreeting() {
	deferred := c.deferred
	c.greeted, c.deferred = true, nil
	for i := range deferred {
		c.handleCommand(&deferred[i])
	}
}

// scheduleWake schedules a Wake for the next deadline.
func (c *Conn) scheduleWake() {
	if !c.greeted {
		c.Out.WakeBy(c.greetingDeadline)
	}
	for _, r := range c.requests {
		c.Out.WakeBy(r.deadline)
	}
	for _, s := range c.sessions.resume.sessions {
		if s.connected {
			c.Out.WakeBy(s.decoder.turnDeadline)
		}
	}
}

package client

import (
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// A Conn is agentctl's connection to a server. It implements codec.Codec.
type Conn struct {
	codec.ClientBase
	resume *resumeState // static after construction

	greeted          bool // system.connected or another frame arrived, or greetingTimeout passed
	sawFrame         bool // a frame arrived
	greetingDeadline time.Time
	deferred         []protocol.Command // received before the greeting
	capabilities     map[string]bool
	isMyAgent        bool // the server's greeting lists no capabilities
	acks             ackTracker
	requests         []*request
	opens            map[string]*sessionOpen // by the client's name for the session
	current          *session                // the session that a frame without session_id means
	clock            serverClock
	seqs             seqTracker
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
	c := &Conn{
		ClientBase: codec.NewClientBase(o, Responder),
		resume:     codec.ResumeState(o.Resume, func() *resumeState { return new(resumeState) }),
		opens:      map[string]*sessionOpen{}, capabilities: map[string]bool{},
	}
	for _, s := range c.resume.sessions {
		s.log.Detach()
		s.connected, s.endedSeq, s.pieceSeq = false, 0, 0
	}
	return c
}

// run executes one call of the codec.
func (c *Conn) run(now time.Time, work func()) codec.Output {
	return c.Run(now, func() {
		work()
		c.expire()
		c.publishSummaries()
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
		m, ok := wire.DecodeMessage(f.Data)
		if !ok || f.Binary || m.Event == "" {
			c.recordUnknown(f.Data)
			return
		}
		c.sawFrame = true
		c.handleFrame(&m, f.Data)
		if !c.greeted {
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
	for _, s := range c.resume.sessions {
		if s.connected {
			c.Out.WakeBy(s.turnDeadline)
		}
	}
}

// expire fails requests past their deadline and ends turns past theirs.
func (c *Conn) expire() {
	for _, req := range slices.Clone(c.requests) {
		if !c.Now.Before(req.deadline) {
			c.finishRequest(req, nil, protocol.Errorf(protocol.CodeTimeout, "the server did not answer in time"))
		}
	}
	for _, s := range c.resume.sessions {
		if s.connected && !s.turnDeadline.IsZero() && !c.Now.Before(s.turnDeadline) {
			s.turnDeadline = time.Time{}
			if s.log.State.Turn != nil {
				c.endTurn(s, c.Now, protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
			}
		}
	}
}

// send sends a frame.
func (c *Conn) send(f wire.Frame) {
	c.Send(codec.Frame{Data: f.Encode(c.Now)})
}

// recordUnknown records a message that is no frame.
func (c *Conn) recordUnknown(data []byte) {
	if c.current != nil {
		c.recordRaw(c.current, "", data)
	}
}

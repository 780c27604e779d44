package client

import (
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// Bounds of the client's memory.
const (
	maxSessions     = 64
	maxRequests     = 256 // of a session; also pings and conversations being started
	maxPings        = maxSessions * maxRequests
	maxSavedAnswers = 256
)

// The protocol reports errors but confirms nothing. agentctl's server answers messages with a note.
// Any other server handles the messages of a connection in order: a message has arrived there when
// a PING sent after it is answered, and counts as accepted if no error follows within errorTimeout.
const (
	errorTimeout  = 500 * time.Millisecond
	sendTimeout   = 2 * time.Minute  // for that evidence; a server may read nothing while its model works
	openTimeout   = 8 * time.Second  // for the first message of the server
	answerTimeout = 10 * time.Second // for messages that the server always answers
	quietTimeout  = 5 * time.Second  // after a tool that may end the turn

	decisionTimeout = time.Second // for an error about a decision that the server does not confirm
)

// A Conn is agentctl's connection to a server. It implements codec.Codec.
type Conn struct {
	*exchange
	resume       *resumeState
	creations    creations
	lastSession  *session  // last one used by either end
	openDeadline time.Time // wait for the server's first message until then; zero: it came
	deferred     [][]byte  // native lines received before it
}

// A resumeState survives a lost connection: the protocol cannot replay a conversation.
type resumeState struct {
	sessions sessions
	answers  codec.Recent[savedAnswer] // by key
}

func newResumeState() *resumeState {
	return &resumeState{answers: codec.Recent[savedAnswer]{Limit: maxSavedAnswers}}
}

// New returns the client end of a connection. Options: "domain" for sessions without an agent,
// "thinking" to request reasoning.
func New(o codec.ClientOptions) *Conn {
	resume := codec.ResumeState(o.Resume, newResumeState)
	return &Conn{
		exchange: &exchange{ClientBase: codec.NewClientBase(o, Responder), answers: &resume.answers},
		resume:   resume,
	}
}

// Open implements codec.Codec. It ends the turns that the last connection lost. A server accepts a
// connection before it rejects the credential with close code 1008, so commands wait for the answer
// to a PING.
func (c *Conn) Open(now time.Time) codec.Output {
	return c.run(now, func() {
		c.openDeadline = now.Add(openTimeout)
		c.ping(ping{}, "")
		for _, s := range c.resume.sessions {
			s.reconnect(c.exchange)
		}
	})
}

// Native implements codec.Codec.
func (c *Conn) Native(now time.Time, line []byte) codec.Output {
	return c.run(now, func() {
		if c.openDeadline.IsZero() {
			c.handleLine(line)
			return
		}
		if c.deferred = append(c.deferred, slices.Clone(line)); len(c.deferred) >= maxRequests {
			c.finishOpen()
		}
	})
}

func (c *Conn) handleLine(line []byte) {
	if cmd, ok := c.Decode(line); ok {
		c.handleCommand(&cmd)
	}
}

// finishOpen executes the commands received before the server's first message.
func (c *Conn) finishOpen() {
	deferred := c.deferred
	c.openDeadline, c.deferred = time.Time{}, nil
	for _, line := range deferred {
		c.handleLine(line)
	}
}

// failOpen fails these commands: any server of the dialect answers a PING.
func (c *Conn) failOpen() {
	for _, line := range c.deferred {
		if cmd, err := protocol.DecodeCommand(line); err == nil {
			c.Failf(&cmd, protocol.CodeTimeout, "the server does not answer: it is busy, or does not speak %s", wire.Name)
		}
	}
	c.openDeadline, c.deferred = time.Time{}, nil
}

// Foreign implements codec.Codec.
func (c *Conn) Foreign(now time.Time, f codec.Frame) codec.Output {
	return c.run(now, func() {
		opening := !c.openDeadline.IsZero()
		if c.handleMessage(f.Data); opening {
			c.finishOpen()
		}
	})
}

// Wake implements codec.Codec.
func (c *Conn) Wake(now time.Time) codec.Output { return c.run(now, func() {}) }

// run executes one call of the codec.
func (c *Conn) run(now time.Time, work func()) codec.Output {
	return c.Run(now, func() {
		c.expire()
		work()
		for _, s := range c.resume.sessions {
			s.log.publish()
		}
		c.scheduleWake()
	})
}

// expire handles deadlines that have passed.
func (c *Conn) expire() {
	if !c.openDeadline.IsZero() && !c.Now.Before(c.openDeadline) {
		c.failOpen()
	}
	for _, s := range c.resume.sessions {
		for _, req := range s.requests.expired(c.Now) {
			if cmd := s.expire(req); cmd != nil {
				c.handleCommand(cmd)
			}
		}
		s.expireTurn()
	}
	if c.creations.domainsLate(c.Now) {
		c.failUnknown(nil)
	}
	for _, late := range c.creations.takeLate(c.Now) {
		c.Failf(late.command, protocol.CodeTimeout, "the server did not start a conversation")
	}
}

// scheduleWake schedules a Wake for the next deadline.
func (c *Conn) scheduleWake() {
	c.Out.WakeBy(c.openDeadline)
	for _, s := range c.resume.sessions {
		s.wakeBy(c.Out)
	}
	c.creations.wakeBy(c.Out)
}

// handleMessage handles a message of the server.
func (c *Conn) handleMessage(data []byte) {
	m := wire.DecodeMessage(data)
	kind := m.Type()
	switch kind {
	case wire.TypePong:
		c.handlePong()
		return
	case wire.TypeStarted:
		c.handleStarted(m)
		return
	case wire.TypeError:
		c.handleError(m, data)
		return
	}
	id := m.Conversation()
	switch s := c.sessionByID(id); {
	case s != nil:
		s.handleMessage(kind, m, data)
	case id == "" && c.lastSession != nil:
		c.lastSession.recordRaw(kind, data)
	} // else of a conversation that no client follows: no log keeps it
}

// handlePong handles the answer to the oldest PING.
func (c *Conn) handlePong() {
	p, ok := c.takePing()
	switch {
	case !ok:
	case p.command != nil:
		c.Answer(p.command, protocol.Empty{})
	case p.request != nil:
		p.outbox.confirm(p.request)
	}
}

// handleError handles an error of the server. Without a session it fails the oldest conversation
// being started.
func (c *Conn) handleError(m wire.Message, data []byte) {
	body := m.Payload()
	code, message := body.Name("code"), clipText(body.Text("message"))
	if message == "" {
		message = clipText(m.Text("error"))
	}
	id := m.Conversation()
	s := c.sessionByID(id)
	if s == nil {
		if created := c.creations.take(); created != nil {
			c.failCreate(created, code, message)
			return
		}
		if id == "" {
			s = c.resume.sessions.likely()
		}
	}
	switch {
	case s != nil:
		s.handleError(code, message, data)
	case c.lastSession != nil:
		c.lastSession.recordUnrelated(message, data)
	}
}

// sessionByID returns the session of a conversation, or nil.
func (c *Conn) sessionByID(id string) *session {
	s := c.resume.sessions.byID(id)
	if s != nil {
		c.lastSession = s
	}
	return s
}

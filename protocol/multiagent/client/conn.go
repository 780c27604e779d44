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
// a PING sent after it is answered, and counts as accepted if there is no error for errorTimeout.
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
	codec.ClientBase
	resume       *resumeState
	creating     []*creation
	unknown      []*creation // of an unknown domain, while the server's domains are read
	paths        []string    // to read
	pings        []ping      // without an answer, oldest first
	lastSession  *session    // last one used by either end
	openDeadline time.Time   // wait for the server's first message until then; zero: it came
	deferred     [][]byte    // native lines received before it
}

// A resumeState survives a lost connection: the protocol cannot replay a conversation.
type resumeState struct {
	sessions []*session
	answers  codec.Recent[savedAnswer] // by key
}

func newResumeState() *resumeState {
	return &resumeState{answers: codec.Recent[savedAnswer]{Limit: maxSavedAnswers}}
}

// A savedAnswer is the answer to a command with a key.
type savedAnswer struct {
	body   string
	result any // or an error
}

// A ping is a PING without an answer: of a ping command, or sent after a message of a session.
type ping struct {
	command *protocol.Command // nil: none
	session *session          // nil: none
	request *request          // of session
}

// ping sends a PING.
func (c *Conn) ping(p ping, conversation string) {
	if len(c.pings) < maxPings {
		c.pings = append(c.pings, p)
	}
	c.send(wire.Frame{Type: wire.TypePing, Conversation: conversation})
}

// handlePong handles the answer to the oldest PING.
func (c *Conn) handlePong() {
	if len(c.pings) == 0 {
		return
	}
	p := c.pings[0]
	c.pings = c.pings[1:]
	if p.command != nil {
		c.Answer(p.command, protocol.Empty{})
	}
	if p.request != nil {
		c.confirmSend(p.session, p.request)
	}
}

// A creation is a conversation being started.
type creation struct {
	command  *protocol.Command
	data     protocol.CreateData
	domain   string
	deadline time.Time
}

// New returns the client end of a connection. Options: "domain" for sessions without an
// agent, "thinking" to request reasoning.
func New(o codec.ClientOptions) *Conn {
	return &Conn{
		ClientBase: codec.NewClientBase(o, Responder),
		resume:     codec.ResumeState(o.Resume, newResumeState),
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
			s.log.Epoch = c.Epoch()
			s.log.Detach()
			c.reconnect(s)
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
		if c.openDeadline.IsZero() {
			c.handleMessage(f.Data)
			return
		}
		c.handleMessage(f.Data)
		c.finishOpen()
	})
}

// Wake implements codec.Codec.
func (c *Conn) Wake(now time.Time) codec.Output { return c.run(now, func() {}) }

// run executes one call of the codec.
func (c *Conn) run(now time.Time, work func()) codec.Output {
	return c.Run(now, func() {
		c.expire()
		work()
		c.publishSummaries()
		c.scheduleWake()
	})
}

func (c *Conn) send(f wire.Frame) { c.Send(f.Encode()) }

// expire completes requests past their deadline.
func (c *Conn) expire() {
	if !c.openDeadline.IsZero() && !c.Now.Before(c.openDeadline) {
		c.failOpen()
	}
	for _, s := range c.resume.sessions {
		for _, req := range slices.Clone(s.requests) {
			if !c.Now.Before(req.deadline) && s.removeRequest(req) {
				c.completeRequest(s, req)
			}
		}
		if !s.turnDeadline.IsZero() && !c.Now.Before(s.turnDeadline) {
			c.endQuietTurn(s)
		}
	}
	if len(c.unknown) > 0 && !c.Now.Before(c.unknown[0].deadline) {
		c.failUnknown(nil)
	}
	for len(c.creating) > 0 && !c.Now.Before(c.creating[0].deadline) {
		late := c.creating[0]
		c.creating = c.creating[1:]
		c.Failf(late.command, protocol.CodeTimeout, "the server did not start a conversation")
	}
}

// scheduleWake schedules a Wake for the next deadline.
func (c *Conn) scheduleWake() {
	c.Out.WakeBy(c.openDeadline)
	for _, s := range c.resume.sessions {
		for _, req := range s.requests {
			c.Out.WakeBy(req.deadline)
		}
		c.Out.WakeBy(s.turnDeadline)
	}
	for _, list := range [][]*creation{c.creating, c.unknown} {
		if len(list) > 0 {
			c.Out.WakeBy(list[0].deadline)
		}
	}
}

// publishSummaries sends changed sessions to a watching client.
func (c *Conn) publishSummaries() {
	for _, s := range c.resume.sessions {
		if c.Watching && s.publishedSeq != s.log.State.Seq {
			s.publishedSeq = s.log.State.Seq
			c.Publish(s.log.Session, protocol.SummaryChanged, s.summary())
		}
	}
}

// answerOnce answers a command that changed state, and saves the answer under the command's key.
// cmd may be nil.
func (c *Conn) answerOnce(cmd *protocol.Command, result any) {
	if cmd == nil {
		return
	}
	if cmd.Key != "" {
		c.resume.answers.Put(cmd.Key, savedAnswer{commandBody(cmd), result})
	}
	c.Answer(cmd, result)
}

// fail answers a command with an error. cmd may be nil.
func (c *Conn) fail(cmd *protocol.Command, err *protocol.Error) {
	switch {
	case cmd == nil:
	case cmd.ID == "": // of an earlier connection
		c.saveError(cmd, err)
	default:
		c.Fail(cmd, err)
	}
}

// commandBody distinguishes commands with the same key.
func commandBody(cmd *protocol.Command) string {
	return string(cmd.Command) + "\n" + cmd.Session + "\n" + string(cmd.Data)
}

package client

import (
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// Timeouts of the client, since the server does not acknowledge messages.
const (
	quietTimeout   = 250 * time.Millisecond // after opening, for messages of the current turn
	resumeTimeout  = 2 * time.Second        // after opening, if the last connection ended in a turn
	moreTimeout    = 50 * time.Millisecond  // between messages of the current turn
	maxOpening     = time.Second
	startTimeout   = 10 * time.Second       // for the turn of a message
	echoTimeout    = 150 * time.Millisecond // at a turn's start, for the message that started it
	rejectTimeout  = 500 * time.Millisecond // for an error after a decision
	explainTimeout = 2 * time.Minute
	contextTimeout = 10 * time.Second
	compactTimeout = 5 * time.Minute
)

// maxPending bounds the commands that wait for the server.
const maxPending = 256

// A Conn is agentctl's connection to a server. It implements codec.Codec. The connection is the
// session, and the log begins with it.
type Conn struct {
	codec.ClientBase
	session *session

	openedAt time.Time
	readyAt  time.Time          // until then commands are held, since the session is not known; zero: ready
	held     []protocol.Command // until readyAt
}

// New returns the client end of a connection.
func New(o codec.ClientOptions) *Conn {
	c := &Conn{ClientBase: codec.NewClientBase(o, Responder)}
	c.session = newSession(&c.ClientBase)
	return c
}

// Open implements codec.Codec.
func (c *Conn) Open(now time.Time) codec.Output {
	return c.run(now, func() {
		c.openedAt, c.readyAt = now, now.Add(quietTimeout)
		log := c.session.log
		switch {
		case log.previous == nil:
			log.add(protocol.SessionCreated, protocol.SessionCreatedData{Name: log.Session, Agent: wire.Name})
		case !c.Options.PeerIsAgentctl: // the session ended with its connection
			log.resume("")
		case log.previous.State.Turn != nil:
			c.readyAt = now.Add(resumeTimeout)
		}
	})
}

// Native implements codec.Codec.
func (c *Conn) Native(now time.Time, line []byte) codec.Output {
	return c.run(now, func() {
		cmd, ok := c.Decode(line)
		switch {
		case !ok:
		case c.readyAt.IsZero():
			c.handleCommand(&cmd)
		default:
			c.Hold(&c.held, maxPending, &cmd)
		}
	})
}

// handleCommand carries out a command on the session.
func (c *Conn) handleCommand(cmd *protocol.Command) {
	if name := c.session.log.Session; !strings.HasPrefix(name, cmd.Session) {
		c.Failf(cmd, protocol.CodeNoSession, "the dialect %s has one session per URL, and this one is %q", wire.Name, name)
		return
	}
	c.session.handleCommand(cmd)
}

// Foreign implements codec.Codec.
func (c *Conn) Foreign(now time.Time, f codec.Frame) codec.Output {
	return c.run(now, func() {
		waits := c.session.log.previous != nil
		c.session.handleMessage(f)
		more := now.Add(moreTimeout)
		switch {
		case c.readyAt.IsZero():
		case waits && c.session.log.previous == nil: // the interrupted turn is repeated
			c.readyAt = more
		case more.After(c.readyAt) && more.Before(c.openedAt.Add(maxOpening)):
			c.readyAt = more
		}
	})
}

// Wake implements codec.Codec.
func (c *Conn) Wake(now time.Time) codec.Output { return c.run(now, func() {}) }

// run carries out one call of the codec.
func (c *Conn) run(now time.Time, work func()) codec.Output {
	return c.Run(now, func() {
		c.expireOpening()
		c.session.expire()
		work()
		c.PublishSummary(c.session.log.Log, c.session.log.Summary())
		c.Out.WakeBy(c.readyAt)
		c.session.wakeBy()
	})
}

// expireOpening carries out the held commands once the session is known.
func (c *Conn) expireOpening() {
	if c.readyAt.IsZero() || c.Now.Before(c.readyAt) {
		return
	}
	c.session.log.resume("")
	held := c.held
	c.readyAt, c.held = time.Time{}, nil
	for i := range held {
		c.handleCommand(&held[i])
	}
}

// send sends a message and returns its id.
func send(x *codec.ClientBase, typ string, payload any) (id string) {
	id = x.Options.ID("request")
	x.Send(wire.EncodeMessage(id, typ, payload))
	return id
}

// verbs are the commands that the dialect supports.
var verbs = []protocol.Verb{
	protocol.DoSubscribe, protocol.DoUnsubscribe, protocol.DoWatch, protocol.DoList, protocol.DoSnapshot,
	protocol.DoHistory,
	protocol.DoSend, protocol.DoApprove, protocol.DoContext, protocol.DoCompact,
}

// unsupportedReasons explains unsupported commands.
var unsupportedReasons = map[protocol.Verb]string{
	protocol.DoCreate:  "the first message to a session creates it; the last part of the URL's path is its name",
	protocol.DoHistory: "its server has no history",
}

// Responder declares the commands that the client supports.
var Responder = codec.Responder{
	Dialect: wire.Name, Verbs: verbs, LocalVerbs: []protocol.Verb{protocol.DoHistory}, Reasons: unsupportedReasons,
}

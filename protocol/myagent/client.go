package myagent

import (
	"bytes"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A clientCodec is the client end of one connection.
type clientCodec struct {
	// Static after construction.

	options   codec.ClientOptions
	responder codec.Responder
	resume    *resumeState

	greeted          bool // system.connected or another frame arrived, or greetingTimeout passed
	sawFrame         bool // a frame arrived
	greetingDeadline time.Time
	deferred         [][]byte // commands received before the greeting
	capabilities     map[string]bool
	acks             ackTracker
	requests         []*request
	opens            map[string]*sessionOpen // by the client's name for the session
	current          *session                // the session that a frame without session_id means
	watched          bool

	// Valid during one call of the codec.

	now time.Time
	out *codec.Output
}

const (
	greetingTimeout = 2 * time.Second  // wait for the server's greeting
	requestTimeout  = 10 * time.Second // wait for a reply
	// from a cancelled plan to the end of its turn, unless the server ends it
	turnEndTimeout = 3 * time.Second

	maxDeferred = 64
	maxRequests = 64
)

// verbs lists the commands that the dialect supports besides hello and ping.
var verbs = []protocol.Verb{
	protocol.DoSubscribe, protocol.DoUnsubscribe, protocol.DoAck, protocol.DoWatch, protocol.DoList, protocol.DoSnapshot, protocol.DoCreate,
	protocol.DoSend, protocol.DoInterrupt, protocol.DoApprove, protocol.DoTaskCancel, protocol.DoTaskRestart, protocol.DoPlanRun,
	protocol.DoExport, protocol.DoRestore, protocol.DoHistory,
}

// unsupportedReasons explains the rejection of a command.
var unsupportedReasons = map[protocol.Verb]string{protocol.DoList: "it has no list of sessions, name one"}

func newClientCodec(call codec.ClientOptions) *clientCodec {
	m, _ := call.Resume.Value.(*resumeState)
	if m == nil {
		m = &resumeState{}
		call.Resume.Value = m
	}
	for _, s := range m.sessions {
		s.log.Detach()
		s.connected = false
	}
	return &clientCodec{
		options: call, resume: m, opens: map[string]*sessionOpen{}, capabilities: map[string]bool{},
		responder: codec.Responder{
			Dialect: Name, Server: Name, Verbs: verbs, Window: protocol.DefaultWindow, Epoch: codec.Epoch(call.ID("e")),
			OneShot: call.OneShot, LocalVerbs: []protocol.Verb{protocol.DoList}, Reasons: unsupportedReasons,
		},
	}
}

// run executes one call of the codec.
func (c *clientCodec) run(now time.Time, f func()) codec.Output {
	var out codec.Output
	c.now, c.out = now, &out
	f()
	c.expire()
	c.publishSummaries()
	out.Wake = c.nextWake()
	c.out = nil
	return out
}

// Open implements codec.Codec.
func (c *clientCodec) Open(now time.Time) codec.Output {
	return c.run(now, func() { c.greetingDeadline = now.Add(greetingTimeout) })
}

// Native implements codec.Codec.
func (c *clientCodec) Native(now time.Time, line []byte) codec.Output {
	return c.run(now, func() {
		cmd, ok := c.responder.Decode(c.out, line)
		switch {
		case !ok:
		case c.greeted:
			c.handleCommand(&cmd)
		case len(c.deferred) >= maxDeferred:
			c.responder.Fail(c.out, &cmd, protocol.Errorf(protocol.CodeTooMany, "too many commands before the server greets"))
		default:
			c.deferred = append(c.deferred, bytes.Clone(line))
		}
	})
}

// Foreign implements codec.Codec.
func (c *clientCodec) Foreign(now time.Time, f codec.Frame) codec.Output {
	return c.run(now, func() {
		m, ok := decodeMessage(f.Data)
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
func (c *clientCodec) Wake(now time.Time) codec.Output {
	return c.run(now, func() {
		if !c.greeted && !now.Before(c.greetingDeadline) {
			c.finishGreeting()
		}
	})
}

// finishGreeting executes the commands received before the greeting.
func (c *clientCodec) finishGreeting() {
	c.greeted = true
	for _, line := range c.deferred {
		if cmd, err := protocol.DecodeCommand(line); err == nil {
			c.handleCommand(&cmd)
		}
	}
	c.deferred = nil
}

// nextWake returns the time of the next Wake.
func (c *clientCodec) nextWake() time.Time {
	var at time.Time
	sooner := func(t time.Time) {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	if !c.greeted {
		sooner(c.greetingDeadline)
	}
	for _, a := range c.requests {
		sooner(a.deadline)
	}
	for _, s := range c.resume.sessions {
		if s.connected {
			sooner(s.turnDeadline)
		}
	}
	return at
}

// expire fails requests past their deadline and ends turns past theirs.
func (c *clientCodec) expire() {
	for _, a := range slices.Clone(c.requests) {
		if !c.now.Before(a.deadline) {
			c.finishRequest(a, nil, protocol.Errorf(protocol.CodeTimeout, "the server did not answer %s", a.event))
		}
	}
	for _, s := range c.resume.sessions {
		if s.connected && !s.turnDeadline.IsZero() && !c.now.Before(s.turnDeadline) {
			s.turnDeadline = time.Time{}
			if s.log.State.Turn != nil {
				c.endTurn(s, c.now, protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
			}
		}
	}
}

// send sends a frame.
func (c *clientCodec) send(f frame) {
	c.out.Foreign = append(c.out.Foreign, codec.Frame{Data: f.encode(c.now)})
}

// recordUnknown records a message that is no frame.
func (c *clientCodec) recordUnknown(data []byte) {
	if c.current != nil {
		c.current.recordRaw(c, "", data)
	}
}

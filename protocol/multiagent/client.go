package multiagent

import (
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// Bounds of what our client's end remembers.
const (
	maxSessions     = 64
	maxRequests     = 256 // of a thread; also of pings and conversations to be started
	maxSavedAnswers = 256
)

// How long an error may take. The dialect does not say that it took a message: after patience without an error, it did.
const (
	errorTimeout  = 500 * time.Millisecond
	openTimeout   = 8 * time.Second  // for the first sign of a server
	answerTimeout = 10 * time.Second // for what is always answered
	quietTimeout  = 5 * time.Second  // after a tool that nothing may follow
)

// verbs are the commands that the dialect can say, or that are about what our end keeps itself.
var verbs = []protocol.Verb{
	protocol.DoSubscribe, protocol.DoUnsubscribe, protocol.DoWatch, protocol.DoList, protocol.DoSnapshot, protocol.DoHistory,
	protocol.DoCreate, protocol.DoSend, protocol.DoInterrupt, protocol.DoApprove,
	protocol.DoQueueEdit, protocol.DoQueueRemove, protocol.DoQueueMove, protocol.DoQueueHold, protocol.DoQueueRelease,
}

// kept are the verbs of a client that stays: what they are about is its own.
var localVerbs = []protocol.Verb{
	protocol.DoList, protocol.DoHistory,
	protocol.DoQueueEdit, protocol.DoQueueRemove, protocol.DoQueueMove, protocol.DoQueueHold, protocol.DoQueueRelease,
}

// noQueue says why no verb changes a queue.
const noQueue = "what waits at its server cannot be changed, only what an attached client itself lets wait"

// why says more of commands that are refused.
var unsupportedReasons = map[protocol.Verb]string{
	protocol.DoList: "it has no list of sessions, name one", protocol.DoHistory: "its server tells nothing of the past",
	protocol.DoQueueEdit: noQueue, protocol.DoQueueRemove: noQueue, protocol.DoQueueMove: noQueue, protocol.DoQueueHold: noQueue,
	protocol.DoQueueRelease: noQueue,
}

// A Client is the codec at our client's end: it answers our client's commands with what a Multi-Agent server says.
type clientCodec struct {
	options      codec.ClientOptions
	responder    codec.Responder
	resume       *resumeState
	creating     []*creation
	pings        []*protocol.Command
	lastSession  *session // that something was said or heard of
	watching     bool
	openDeadline time.Time // until then a server that will not have us says so; zero: it has us, or is not going to say
	deferred     [][]byte  // native lines that wait for it

	now time.Time // of the call under way
	out *codec.Output
}

// A memory is what outlives a connection: the dialect cannot tell again what was said.
type resumeState struct {
	sessions []*session
	keys     []string // of answers, oldest first
	answers  map[string]savedAnswer
}

// answered is a command that was carried out under a key.
type savedAnswer struct {
	body   string
	result any
}

// A creation is a conversation that is being started.
type creation struct {
	command  *protocol.Command
	data     protocol.CreateData
	domain   string
	deadline time.Time
}

// NewClient makes the codec of a connection to a Multi-Agent server. The options: "domain" for sessions that name no agent,
// "thinking" to ask for reasoning.
func newClientCodec(c codec.ClientOptions) *clientCodec {
	m, _ := c.Resume.Value.(*resumeState)
	if m == nil {
		m = &resumeState{answers: map[string]savedAnswer{}}
		c.Resume.Value = m
	}
	return &clientCodec{
		options: c, resume: m,
		responder: codec.Responder{
			Dialect: Name, Server: Name, Verbs: verbs, Pings: true, Epoch: codec.Epoch(c.ID("e")), OneShot: c.OneShot, LocalVerbs: localVerbs, Reasons: unsupportedReasons,
		},
	}
}

// Open implements codec.Codec: what was under way when the last connection was lost, is lost. A server accepts whom it then closes
// with 1008, so that nothing is answered here until it has answered a PING, as it does to its own clients.
func (c *clientCodec) Open(now time.Time) codec.Output {
	return c.run(now, func() {
		c.openDeadline = now.Add(openTimeout)
		c.send(frame{Type: typePing})
		for _, s := range c.resume.sessions {
			s.log.Epoch = c.responder.Epoch
			s.log.Detach()
			c.reconnect(s)
		}
	})
}

// Native implements codec.Codec.
func (c *clientCodec) Native(now time.Time, line []byte) codec.Output {
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

func (c *clientCodec) handleLine(line []byte) {
	if cmd, ok := c.responder.Decode(c.out, line); ok {
		c.handleCommand(&cmd)
	}
}

// opened carries out what waited until it was known that the server has us.
func (c *clientCodec) finishOpen() {
	early := c.deferred
	c.openDeadline, c.deferred = time.Time{}, nil
	for _, line := range early {
		c.handleLine(line)
	}
}

// unopened fails what waited: every server of the dialect answers a PING.
func (c *clientCodec) failOpen() {
	for _, line := range c.deferred {
		if cmd, err := protocol.DecodeCommand(line); err == nil {
			c.fail(&cmd, protocol.Errorf(protocol.CodeTimeout, "no answer to a PING: the server is busy, or does not speak %s", Name))
		}
	}
	c.openDeadline, c.deferred = time.Time{}, nil
}

// Foreign implements codec.Codec.
func (c *clientCodec) Foreign(now time.Time, f codec.Frame) codec.Output {
	return c.run(now, func() {
		if c.openDeadline.IsZero() {
			c.handleMessage(f.Data)
			return
		}
		if decodeMessage(f.Data).messageType() != typePong {
			c.handleMessage(f.Data)
		}
		c.finishOpen()
	})
}

// Wake implements codec.Codec: some have waited long enough.
func (c *clientCodec) Wake(now time.Time) codec.Output { return c.run(now, func() {}) }

func (c *clientCodec) run(now time.Time, work func()) codec.Output {
	c.now, c.out = now, &codec.Output{}
	c.expire()
	work()
	c.publishSummaries()
	out := c.out
	c.out = nil
	out.Wake = c.nextWake()
	return *out
}

func (c *clientCodec) send(f frame) { c.out.Foreign = append(c.out.Foreign, f.encode()) }

// me is who acts.
func (c *clientCodec) actor() *protocol.Actor { return &protocol.Actor{Name: c.options.Name} }

// expire ends the waits whose time has come.
func (c *clientCodec) expire() {
	if !c.openDeadline.IsZero() && !c.now.Before(c.openDeadline) {
		c.failOpen()
	}
	for _, s := range c.resume.sessions {
		for _, req := range slices.Clone(s.requests) {
			if !c.now.Before(req.deadline) && s.removeRequest(req) {
				c.completeRequest(s, req)
			}
		}
		if !s.turnDeadline.IsZero() && !c.now.Before(s.turnDeadline) {
			c.endQuietTurn(s)
		}
	}
	for len(c.creating) > 0 && !c.now.Before(c.creating[0].deadline) {
		late := c.creating[0]
		c.creating = c.creating[1:]
		c.responder.Fail(c.out, late.command, protocol.Errorf(protocol.CodeTimeout, "the server did not start a conversation"))
	}
}

// next returns when expire is to be called again.
func (c *clientCodec) nextWake() (at time.Time) {
	sooner := func(d time.Time) {
		if at.IsZero() || d.Before(at) {
			at = d
		}
	}
	if !c.openDeadline.IsZero() {
		sooner(c.openDeadline)
	}
	for _, s := range c.resume.sessions {
		for _, req := range s.requests {
			sooner(req.deadline)
		}
		if !s.turnDeadline.IsZero() {
			sooner(s.turnDeadline)
		}
	}
	if len(c.creating) > 0 {
		sooner(c.creating[0].deadline)
	}
	return at
}

// summarize tells who watches which sessions changed.
func (c *clientCodec) publishSummaries() {
	if !c.watching {
		return
	}
	for _, s := range c.resume.sessions {
		if s.publishedSeq != s.log.State.Seq {
			s.publishedSeq = s.log.State.Seq
			c.out.Native = append(c.out.Native, codec.Ephemeral(s.log.Session, protocol.SummaryChanged, c.now, s.summary()))
		}
	}
}

// settle answers a command that changed state, and keeps the answer for its key.
func (c *clientCodec) answerOnce(cmd *protocol.Command, result any) {
	if cmd == nil {
		return
	}
	if cmd.Key != "" {
		if len(c.resume.keys) >= maxSavedAnswers {
			delete(c.resume.answers, c.resume.keys[0])
			c.resume.keys = c.resume.keys[1:]
		}
		c.resume.keys = append(c.resume.keys, cmd.Key)
		c.resume.answers[cmd.Key] = savedAnswer{commandBody(cmd), result}
	}
	c.responder.Answer(c.out, cmd, result)
}

func (c *clientCodec) fail(cmd *protocol.Command, err *protocol.Error) {
	if cmd != nil {
		c.responder.Fail(c.out, cmd, err)
	}
}

// body is what tells two commands with one key apart.
func commandBody(cmd *protocol.Command) string {
	return string(cmd.Command) + "\n" + cmd.Session + "\n" + string(cmd.Data)
}

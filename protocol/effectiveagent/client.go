package effectiveagent

import (
	"encoding/json"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A client is the codec at agentctl's client: it answers commands from the messages of an
// EffectiveAgent server. It routes commands and messages to the subscribed sessions.
type client struct {
	*exchange
	idleTimeout time.Duration // idle time after which a local turn is over
	state       *clientState
	sessions    map[string]*session // subscribed on this connection
}

var _ codec.Codec = (*client)(nil)

// defaultIdleTimeout is the default of the option "quiet".
const defaultIdleTimeout = 5 * time.Second

// verbs are the commands that the dialect supports. Commands for which isCarried is true need
// agentctl's server.
var verbs = []protocol.Verb{
	protocol.DoSubscribe, protocol.DoUnsubscribe, protocol.DoSnapshot, protocol.DoHistory, protocol.DoSend,
	protocol.DoInterrupt, protocol.DoApprove, protocol.DoQueueEdit, protocol.DoQueueRemove, protocol.DoQueueMove,
	protocol.DoQueueHold,
	protocol.DoQueueRelease, protocol.DoQueueSteer,
}

// unsupportedReasons explains unsupported commands.
var unsupportedReasons = map[protocol.Verb]string{
	protocol.DoList:    "it has no session list: name a session",
	protocol.DoHistory: "its server has no history",
}

var responder = codec.Responder{
	Dialect: Name, Verbs: verbs, LocalVerbs: []protocol.Verb{protocol.DoHistory}, Reasons: unsupportedReasons,
}

// newClient returns the codec of a connection to an EffectiveAgent server. The option "quiet" is
// the idle time after which a turn is over, at a server that does not report it. The option
// "activities" is the form of activities before the server shows its own: "document" (the default)
// or "system".
func newClient(o codec.ClientOptions) *client {
	quiet, err := time.ParseDuration(o.Options["quiet"])
	if err != nil || quiet <= 0 {
		quiet = defaultIdleTimeout
	}
	m := codec.ResumeState(o.Resume, newClientState)
	return &client{
		exchange: &exchange{
			ClientBase: codec.NewClientBase(o, responder), unansweredKeys: &m.unansweredKeys,
			brokenKeys: slices.Clone(m.unansweredKeys),
		},
		idleTimeout: quiet, state: m, sessions: map[string]*session{},
	}
}

// Open implements codec.Codec: the protocol has no greeting.
func (c *client) Open(now time.Time) codec.Output { return c.run(now, func() {}) }

// Native implements codec.Codec.
func (c *client) Native(now time.Time, line []byte) codec.Output {
	return c.run(now, func() {
		if cmd, ok := c.Decode(line); ok {
			c.handleCommand(&cmd)
		}
	})
}

// Foreign implements codec.Codec.
func (c *client) Foreign(now time.Time, f codec.Frame) codec.Output {
	return c.run(now, func() { c.handleFrame(f) })
}

// Wake implements codec.Codec: timeouts for errors, idle agents and resumes.
func (c *client) Wake(now time.Time) codec.Output {
	return c.run(now, func() {
		for _, w := range c.duePending(now) {
			c.expire(w)
		}
		for _, s := range c.orderedSessions() {
			s.turns.expire()
			if !s.resumeBy.IsZero() && !now.Before(s.resumeBy) {
				c.resumeTimedOut(s)
			}
		}
	})
}

// run carries out one call of the codec.
func (c *client) run(now time.Time, work func()) codec.Output {
	return c.Run(now, func() {
		work()
		for _, w := range c.pending {
			c.Out.WakeBy(w.doneAt)
		}
		for _, s := range c.sessions {
			c.Out.WakeBy(s.turns.idleAt)
			c.Out.WakeBy(s.resumeBy)
		}
	})
}

// handleCommand carries out a command of agentctl's client.
func (c *client) handleCommand(cmd *protocol.Command) {
	if c.holdCommand(c.sessions[cmd.Session], cmd) {
		return
	}
	switch cmd.Command {
	case protocol.DoSubscribe:
		if s := c.openSession(cmd); s != nil {
			c.Subscribe(cmd, s.log)
		}
	case protocol.DoUnsubscribe:
		c.handleUnsubscribe(cmd)
	case protocol.DoSnapshot, protocol.DoHistory:
		c.answerFromLog(cmd)
	case protocol.DoSend:
		c.sendMessage(cmd)
	default:
		c.carryCommand(cmd)
	}
}

// handleFrame records a message of the server. Unknown messages are kept as raw events.
func (c *client) handleFrame(f codec.Frame) {
	if f.Binary || !json.Valid(f.Data) || !codec.Shallow(f.Data) {
		c.addStray(f.Data)
		return
	}
	var m message
	_ = json.Unmarshal(f.Data, &m)
	kind := codec.String(m.Type)
	if kind == typeError {
		c.handleError(&m)
		return
	}
	id := m.AgentRuntimeID
	if kind == typeSend {
		id = m.Target
	}
	s := c.sessions[codec.String(id)]
	switch {
	case kind == typeActivity && c.handleAnswer(m.Activity):
	case codec.IsNull(id):
		c.addStray(f.Data)
	case s == nil || s.err != nil: // no longer subscribed
	case kind == typeActivity:
		c.handleActivity(s, decodeActivity(m.Activity))
	case kind == typeSend: // another client's message, relayed
		a := decodeActivity(m.Payload)
		if a.unreadable || codec.IsNull(a.Payload) { // a payload instead of an activity
			a = receivedActivity{Payload: m.Payload, raw: m.Payload}
		}
		a.kind, a.Note, a.relayed = kindInput, note{}, true
		c.handleActivity(s, a)
	case decodeKind(kind) != "" && !codec.IsNull(m.Payload): // an activity without an envelope
		c.handleActivity(s, decodeActivity(f.Data))
	default:
		s.raw(codec.Excerpt(kind), f.Data)
	}
}

// handleActivity handles an activity of a session, and carries out the commands that waited for its
// resume.
func (c *client) handleActivity(s *session, a receivedActivity) {
	s.active = true
	isPast := s.pastSeq > 0
	if !isPast && !s.resumeBy.IsZero() && s.resume(&a.Note) {
		c.release(s)
	}
	if w := s.confirmedBy(&a); w != nil {
		c.acceptSend(w)
	}
	s.handleActivity(&a)
	if isPast && s.isLastPast(a.ID) {
		c.release(s)
	}
}

// addStray records a message without an agent runtime in every subscribed session.
func (c *client) addStray(data []byte) {
	for _, s := range c.orderedSessions() {
		if s.err == nil {
			s.raw("", data)
		}
	}
}

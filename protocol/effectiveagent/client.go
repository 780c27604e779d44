package effectiveagent

import (
	"encoding/json"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A client is the codec at agentctl's client: it answers commands with what an EffectiveAgent server sends.
type client struct {
	codec.ClientBase
	quiet    time.Duration // after which a turn that was answered is over, if the server does not end it
	memory   *memory
	sessions map[string]*session // followed on this connection
	waiting  []*wait             // oldest first
	broke    []string            // keys of sends whose connection ended before their answer
	sequence uint64              // of the activities sent
}

var _ codec.Codec = (*client)(nil)

// defaultQuiet is the quiet time without the option "quiet".
const defaultQuiet = 5 * time.Second

// verbs are the commands that the dialect can say. Those that remote reports only a server of our kind understands.
var verbs = []protocol.Verb{
	protocol.DoSubscribe, protocol.DoUnsubscribe, protocol.DoSnapshot, protocol.DoHistory, protocol.DoSend,
	protocol.DoInterrupt, protocol.DoApprove, protocol.DoQueueEdit, protocol.DoQueueRemove, protocol.DoQueueMove, protocol.DoQueueHold,
	protocol.DoQueueRelease,
}

// why says more of commands that are refused.
var why = map[protocol.Verb]string{
	protocol.DoList:    "it has no list of sessions, name one",
	protocol.DoHistory: "its server tells nothing of the past",
}

// remote reports whether a command is carried by the note of an activity.
func remote(v protocol.Verb) bool {
	switch v {
	case protocol.DoInterrupt, protocol.DoApprove, protocol.DoQueueEdit, protocol.DoQueueRemove, protocol.DoQueueMove,
		protocol.DoQueueHold, protocol.DoQueueRelease:
		return true
	}
	return false
}

// newClient returns the codec of a connection to an EffectiveAgent server. The option "quiet" is the time after an agent's
// last activity at which a turn is over, with a server that does not report it. The option "activities" is the form of
// activities before the server shows its own: "document", the default, or "system".
func newClient(o codec.ClientOptions) *client {
	quiet, err := time.ParseDuration(o.Options["quiet"])
	if err != nil || quiet <= 0 {
		quiet = defaultQuiet
	}
	m := codec.ResumeState(o.Resume, newMemory)
	return &client{
		ClientBase: codec.NewClientBase(o, codec.Responder{
			Dialect: Name, Verbs: verbs, LocalVerbs: []protocol.Verb{protocol.DoHistory}, Reasons: why,
		}),
		quiet: quiet, memory: m, sessions: map[string]*session{}, broke: slices.Clone(m.unheard),
	}
}

// Open implements codec.Codec: the protocol has no greeting.
func (c *client) Open(now time.Time) codec.Output { return c.run(now, func() {}) }

// Native implements codec.Codec.
func (c *client) Native(now time.Time, line []byte) codec.Output {
	return c.run(now, func() {
		if cmd, ok := c.Decode(line); ok {
			c.command(&cmd)
		}
	})
}

// Foreign implements codec.Codec.
func (c *client) Foreign(now time.Time, f codec.Frame) codec.Output {
	return c.run(now, func() { c.frame(f) })
}

// Wake implements codec.Codec: no error came in time, or an agent fell silent.
func (c *client) Wake(now time.Time) codec.Output {
	return c.run(now, func() {
		for _, w := range c.dueBy(now) {
			c.unrefused(w)
		}
		for _, s := range c.ordered() {
			if !s.quiet.IsZero() && !now.Before(s.quiet) {
				c.end(s)
			}
			if !s.resumes.IsZero() && !now.Before(s.resumes) {
				c.unanswered(s)
			}
		}
	})
}

// run carries out one call of the codec.
func (c *client) run(now time.Time, work func()) codec.Output {
	return c.Run(now, func() {
		work()
		for _, w := range c.waiting {
			c.Out.WakeBy(w.due)
		}
		for _, s := range c.sessions {
			c.Out.WakeBy(s.quiet)
			c.Out.WakeBy(s.resumes)
		}
	})
}

// send sends a message.
func (c *client) send(m any) { c.Send(frame(m)) }

// command carries out a command of our client.
func (c *client) command(cmd *protocol.Command) {
	if c.hold(c.sessions[cmd.Session], cmd) {
		return
	}
	switch cmd.Command {
	case protocol.DoSubscribe:
		c.subscribe(cmd)
	case protocol.DoUnsubscribe:
		c.unsubscribe(cmd)
	case protocol.DoSnapshot, protocol.DoHistory:
		c.look(cmd)
	case protocol.DoSend:
		c.sendMessage(cmd)
	default:
		c.remote(cmd)
	}
}

// follows returns the session of a command that only one who follows it can answer; else it fails the command.
func (c *client) follows(cmd *protocol.Command) *session {
	s := c.sessions[cmd.Session]
	if s == nil || s.refused != nil {
		c.Failf(cmd, protocol.CodeUnsupported, "the dialect %s tells of a session only while it is followed", Name)
		return nil
	}
	return s
}

// frame takes one message of the server. What cannot be understood is kept.
func (c *client) frame(f codec.Frame) {
	if f.Binary || !json.Valid(f.Data) || !codec.Shallow(f.Data) {
		c.stray(f.Data)
		return
	}
	var m message
	_ = json.Unmarshal(f.Data, &m)
	kind := codec.String(m.Type)
	if kind == typeError {
		c.fault(&m)
		return
	}
	id := m.AgentRuntimeID
	if kind == typeSend {
		id = m.Target
	}
	s := c.sessions[codec.String(id)]
	switch {
	case codec.IsNull(id):
		c.stray(f.Data)
	case s == nil || s.refused != nil: // of a runtime that is not followed any more
	case kind == typeActivity:
		c.activity(s, readActivity(m.Activity))
	case kind == typeSend: // of another client, relayed
		a := readActivity(m.Payload)
		if a.unreadable || codec.IsNull(a.Payload) { // no activity, but the words alone
			a = seen{Payload: m.Payload, whole: m.Payload}
		}
		a.kind, a.Note, a.relayed = kindInput, note{}, true
		c.activity(s, a)
	case heard(kind) != "" && !codec.IsNull(m.Payload): // an activity without a wrapping
		c.activity(s, readActivity(f.Data))
	default:
		c.raw(s, codec.Excerpt(kind), f.Data)
	}
}

// stray keeps a message that names no agent runtime in every session that is followed.
func (c *client) stray(data []byte) {
	for _, s := range c.ordered() {
		if s.refused == nil {
			c.raw(s, "", data)
		}
	}
}

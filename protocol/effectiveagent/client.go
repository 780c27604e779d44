package effectiveagent

import (
	"encoding/json"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A Client is the codec at our client's end: it answers our client's commands with what an EffectiveAgent server lets it know.
type Client struct {
	call     codec.ClientOptions
	desk     codec.Responder
	quiet    time.Duration // after which a turn that was answered is over, where nobody says so
	memory   *memory
	sessions map[string]*session // followed on this connection
	waiting  []*wait             // oldest first
	broke    []string            // keys of sends whose connection ended before their answer
	logs     int                 // begun on this connection
	sequence uint64              // of our own activities

	now time.Time // of the call under way
	out *codec.Output
}

var _ codec.Codec = (*Client)(nil)

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

// NewClient makes the codec of a connection to an EffectiveAgent server. The option "quiet" is a duration: how long after an
// agent's last word a turn is taken to be over, with a server that does not say so. The option "activities" says in which form
// the server is spoken to before it shows its own: "document", the default, or "system".
func NewClient(call codec.ClientOptions) *Client {
	m, _ := call.Resume.Value.(*memory)
	if m == nil {
		m = &memory{sessions: map[string]*known{}}
		call.Resume.Value = m
	}
	quiet, err := time.ParseDuration(call.Options["quiet"])
	if err != nil || quiet <= 0 {
		quiet = defaultQuiet
	}
	return &Client{
		call: call, quiet: quiet, memory: m, sessions: map[string]*session{}, broke: slices.Clone(m.unheard),
		desk: codec.Responder{
			Dialect: Name, Server: Name, Verbs: verbs, Epoch: codec.Epoch(call.ID("e")), OneShot: call.OneShot, LocalVerbs: []protocol.Verb{protocol.DoHistory}, Reasons: why,
		},
	}
}

// Open implements codec.Codec: the protocol has no greeting.
func (c *Client) Open(now time.Time) codec.Output { return c.do(now, func() {}) }

// Native implements codec.Codec.
func (c *Client) Native(now time.Time, line []byte) codec.Output {
	return c.do(now, func() {
		if cmd, ok := c.desk.Decode(c.out, line); ok {
			c.command(&cmd)
		}
	})
}

// Foreign implements codec.Codec.
func (c *Client) Foreign(now time.Time, f codec.Frame) codec.Output {
	return c.do(now, func() { c.frame(f) })
}

// Wake implements codec.Codec: no error came in time, or an agent fell silent.
func (c *Client) Wake(now time.Time) codec.Output {
	return c.do(now, func() {
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

func (c *Client) do(now time.Time, work func()) codec.Output {
	c.now, c.out = now, &codec.Output{}
	work()
	out := c.out
	c.out = nil
	soonest := func(t time.Time) {
		if !t.IsZero() && (out.Wake.IsZero() || t.Before(out.Wake)) {
			out.Wake = t
		}
	}
	for _, w := range c.waiting {
		soonest(w.due)
	}
	for _, s := range c.sessions {
		soonest(s.quiet)
		soonest(s.resumes)
	}
	return *out
}

func (c *Client) say(m any) { c.out.Foreign = append(c.out.Foreign, frame(m)) }

func (c *Client) fail(cmd *protocol.Command, code protocol.Code, format string, args ...any) {
	c.desk.Fail(c.out, cmd, protocol.Errorf(code, format, args...))
}

func (c *Client) me() *protocol.Actor { return &protocol.Actor{Name: c.call.Name} }

// command carries out a command of our client.
func (c *Client) command(cmd *protocol.Command) {
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
		c.send(cmd)
	default:
		c.remote(cmd)
	}
}

// data reads a command's data, or fails the command.
func (c *Client) data(cmd *protocol.Command, into any) bool {
	err := cmd.DecodeData(into)
	if err != nil {
		c.desk.Fail(c.out, cmd, err)
	}
	return err == nil
}

// follows returns the session of a command that only one who follows it can answer; else it fails the command.
func (c *Client) follows(cmd *protocol.Command) *session {
	s := c.sessions[cmd.Session]
	if s == nil || s.refused != nil {
		c.fail(cmd, protocol.CodeUnsupported, "the dialect %s tells of a session only while it is followed", Name)
		return nil
	}
	return s
}

// frame takes one message of the server. What cannot be understood is kept.
func (c *Client) frame(f codec.Frame) {
	if f.Binary || !json.Valid(f.Data) || !codec.Shallow(f.Data) {
		c.stray(f.Data)
		return
	}
	var m message
	_ = json.Unmarshal(f.Data, &m)
	kind := word(m.Type)
	if kind == typeError {
		c.fault(&m)
		return
	}
	id := m.AgentRuntimeID
	if kind == typeSend {
		id = m.Target
	}
	s := c.sessions[word(id)]
	switch {
	case isNull(id):
		c.stray(f.Data)
	case s == nil || s.refused != nil: // of a runtime that is not followed any more
	case kind == typeActivity:
		c.activity(s, readActivity(m.Activity))
	case kind == typeSend: // of another client, relayed
		a := readActivity(m.Payload)
		if a.unreadable || isNull(a.Payload) { // no activity, but the words alone
			a = seen{Payload: m.Payload, whole: m.Payload}
		}
		a.kind, a.Note, a.relayed = kindInput, note{}, true
		c.activity(s, a)
	case heard(kind) != "" && !isNull(m.Payload): // an activity without a wrapping
		c.activity(s, readActivity(f.Data))
	default:
		c.raw(s, cut(kind), f.Data)
	}
}

// stray keeps a message that names no agent runtime in every session that is followed.
func (c *Client) stray(data []byte) {
	for _, s := range c.ordered() {
		if s.refused == nil {
			c.raw(s, "", data)
		}
	}
}

package replay

import (
	"encoding/json"
	"io"
	"strings"
	"time"

	"agentctl/protocol/codec"
)

// A Dialect describes a dialect to the players.
type Dialect struct {
	codec.Dialect
	Grammar

	// Opened gives the commands of a client that has connected, such as a subscription.
	Opened func(c *ClientConn)

	// Reply returns the frame that every server sends at once to a message of agentctl's client
	// which recorded clients do not send; empty: none. It may be nil.
	Reply func(m Message) string

	// Cause makes agentctl's client send a message of a recorded client, by the commands that a
	// user would give. It returns false if agentctl's client never sends such a message.
	Cause func(c *ClientConn, m Message) bool

	// SameClient reports whether the connections of a conversation are those of one client, which
	// reconnects. If false, each has its own client.
	SameClient func(c *Conversation) bool

	// History means that the client loads finished turns when it subscribes.
	History bool

	// Settle is how long a client waits at the end for its own timers; zero: settleTime.
	Settle time.Duration

	// Serve prepares agentctl's server for a conversation: its agent and the sessions that exist.
	Serve func(s *ServerPlayer)

	// Prepare changes a frame of a recorded client before it is sent, such as a state that the
	// server must have signed itself. Nil: frames are sent as they are.
	Prepare func(s *ServerPlayer, frame string) string

	// Awaited reports whether agentctl's server must send this message of a recorded server too,
	// before the conversation goes on. Nil: every message. False suits messages whose number
	// depends on time, such as parts of a text.
	Awaited func(c *Conversation, m Message) bool

	// Before, unless nil, gets each recorded message before it is played to agentctl's server. It
	// does natively what happened in the real system beside the conversation.
	Before func(p *ServerPlayer, s Step, m Message)

	// Ack, unless nil, returns the frame with which a client acknowledges a message of agentctl's
	// server; "" is none. IsAck reports whether a recorded frame is such a one: it is not played.
	Ack   func(c *Conversation, m Message) string
	IsAck func(c *Conversation, m Message) bool

	// Own are types of messages that agentctl's server sends and no recorded one, with the reason.
	Own map[string]string

	// Exceptions are differences of shape that agentctl's server may have, with the reason, as
	// Shapes.Check reports them.
	Exceptions map[string]string

	// NotServed are HTTP requests, as method and path, that agentctl's server does not answer, with
	// the reason. They are not played.
	NotServed map[string]string

	// Unrecorded are types of a server's messages that own conversations have and no recording,
	// with the reason.
	Unrecorded map[string]string

	// Silent are types of a server's messages of which no field changes the transcript, with the
	// reason.
	Silent map[string]string

	// Unasked are types of a server's messages that agentctl's client ignores in all recordings,
	// with the reason. The own conversations show that it reads them.
	Unasked map[string]string
}

// A Grammar tells the messages of a dialect's frames.
type Grammar struct {
	// Split returns a function that splits the frames of one connection into messages, in order. A
	// frame is its JSON values, which the messages share; a frame that is not JSON has none.
	Split func() func(d Direction, frame []any) []Message

	// OpenKeys reports whether the keys of an object are data. Nil: none.
	OpenKeys func(messageType, path string) bool

	// NoServer means that the system has no server. The frames to the client that the recorded
	// clients accepted are then the reference.
	NoServer bool

	// TypeFields are the names of the fields that tell a message's type.
	TypeFields []string

	// IDs are the names of the fields that hold ids: strings, or lists of strings.
	IDs []string

	// LocalIDs reports whether an id belongs to its connection, as that of a request does. Nil:
	// none.
	LocalIDs func(id string) bool
}

// Each calls f with every message of a conversation.
func (g *Grammar) Each(c *Conversation, f func(Step, Message)) {
	split := map[int]func(Direction, []any) []Message{}
	for _, s := range c.Steps {
		if s.Frame == nil {
			continue
		}
		if split[s.Conn] == nil {
			split[s.Conn] = g.Split()
		}
		for _, m := range split[s.Conn](s.Direction, decode(*s.Frame)) {
			f(s, m)
		}
	}
}

// Learn returns the shapes of the messages of conversations. Frames to the client count only if the
// real server sent them. The answers to HTTP requests have the direction ToCaller.
func (g *Grammar) Learn(list []*Conversation) *Shapes {
	s := NewShapes(g.OpenKeys)
	for _, c := range list {
		for _, step := range c.Steps {
			if h := step.HTTP; h != nil && !h.Upgrade && c.ServerIsReal() {
				for _, body := range decode(h.Body) {
					s.Learn(ToCaller, Message{httpType(h), body})
				}
			}
		}
		g.Each(c, func(step Step, m Message) {
			if step.Direction == ToServer || c.ServerIsReal() || g.NoServer {
				s.Learn(step.Direction, m)
			}
		})
	}
	return s
}

// Dialects returns all dialects, by name.
func Dialects() []*Dialect {
	return []*Dialect{
		agentloopDialect(), effectiveagentDialect(), multiagentDialect(), myagentDialect(), sandcastleDialect(),
	}
}

// decode decodes the JSON values of a frame. It returns nil for a frame that is not JSON.
func decode(frame string) (values []any) {
	d := json.NewDecoder(strings.NewReader(frame))
	d.UseNumber()
	for {
		var v any
		switch err := d.Decode(&v); {
		case err == io.EOF:
			return values
		case err != nil:
			return nil
		}
		values = append(values, v)
	}
}

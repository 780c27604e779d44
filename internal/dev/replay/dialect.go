package replay

import (
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/server/embedded"
)

// A Dialect is the table of a dialect: what its messages are, what users do that makes an end send
// them, and how agentctl's ends differ from the real system's.
type Dialect struct {
	codec.Dialect
	Grammar

	// Play plays the server of a conversation to agentctl's client and returns what a user sees.
	// Nil: PlayClient.
	Play func(t testing.TB, d *Dialect, c *Conversation) string

	// Opened is the id of the session that a client subscribes to when it has connected; none: it
	// does not.
	Opened query

	// Session is the id of the session that a client's message is about.
	Session query

	// Join makes a client subscribe to a session before its first command for it.
	Join bool

	// Commands are what users do, by the message of the recorded client. agentctl's client never
	// sends a message without a row.
	Commands []Command

	// Replies are the frames that every server sends immediately to a message of agentctl's client
	// which recorded clients do not send, by its type.
	Replies map[string]string

	// SameClient reports whether the connections of a conversation belong to one client. Nil:
	// each has its own.
	SameClient func(c *Conversation) bool

	// History means that the client loads finished turns when it subscribes.
	History bool

	// Settle is how long a client waits at the end for its own timers; zero: settleTime.
	Settle time.Duration

	// Script is the agent of agentctl's server. Scripted, unless nil, returns it for a
	// conversation.
	Script   string
	Scripted func(c *Conversation) string

	// Options prepares agentctl's server, unless nil. Sessions are the names of the sessions that
	// exist, a list.
	Options  func(o *embedded.Options) error
	Sessions query

	// Prepare changes a frame of a recorded client before it is sent, such as a state that the
	// server must have signed itself. It may be nil.
	Prepare func(p *serverPlayer, frame string) string

	// Beside are what happened natively beside the conversation, by the recorded message before
	// which it did.
	Beside []Command

	// Unsent are the messages of recorded servers that agentctl's server need not send before the
	// conversation continues. UnsentIn, unless nil, returns further ones of a conversation.
	Unsent   []Unsent
	UnsentIn func(c *Conversation) func(Message) bool

	// Ack, unless nil, returns the frame with which a client acknowledges a message of agentctl's
	// server, "" for no type. Recorded messages of the type Ack are then played in the scenario
	// AckTest alone.
	Ack     func(m Message) string
	AckTest string

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

// A Command is what a user does, for a message of a recorded client. The first row of the message's
// type whose Data has a result is used.
type Command struct {
	Type    string        // of the message, or of all that have it before a slash
	Verb    protocol.Verb // empty: agentctl's client sends the message without a command
	Data    query         // of the command
	Again   query         // data of the second attempt, if the first one fails
	Session query         // empty: the dialect's

	// Expected reports whether agentctl's client sends the message after the command. Nil: it does.
	Expected func(c *clientConn, m Message) bool
}

// An Unsent is a row of messages that agentctl's server does not send, or whose number depends on
// time.
type Unsent struct {
	Type   string // or what types begin with
	If     query  // has the result true; empty: always
	Reason string
}

// hasType reports whether a type is the one of a row, or one of its variants.
func hasType(typ, row string) bool { return typ == row || strings.HasPrefix(typ, row+"/") }

// sent reports whether the client has sent a message of the type.
func sent(c *clientConn, m Message) bool { return c.hasSent(m.Type) }

// unanswered reports whether the client did not answer the command without the server.
func unanswered(c *clientConn, _ Message) bool { return c.lastAnswer() == nil }

// Dialects returns all dialects, by name.
func Dialects() []*Dialect {
	return []*Dialect{
		acpDialect(), agentloopDialect(), effectiveagentDialect(), multiagentDialect(), myagentDialect(),
		sandcastleDialect(),
	}
}

package remote

import (
	"context"
	"errors"
	"iter"
	"time"

	"agentctl/protocol"
)

// Session is one session as a client follows it, over reconnects.
type Session interface {
	// Updates yields what happens, in order, until ctx ends or the client stops trying; then it first
	// yields a Conn that is Offline. It is called once. Every event is yielded once, without gaps, and
	// belongs to the receiver. Updates panics when the client is broken: the screen ends and restores
	// the terminal before the panic is reported.
	Updates(ctx context.Context) iter.Seq[Update]

	// Do runs a command and fills result, which may be nil. It waits for a connection until ctx ends
	// and never runs a command twice. A refusal of the server is a *protocol.Error.
	// Safe for concurrent use.
	Do(ctx context.Context, verb protocol.Verb, data, result any) error
}

// Withdrawer is a Session that can withdraw a message that waits for a connection.
// Safe for concurrent use.
type Withdrawer interface {
	// Withdraw withdraws the message that Do sends with a client_message_id, unless the server may have
	// it already, and reports whether it did: then Do returns ErrWithdrawn.
	Withdraw(clientMessageID string) bool
}

// Retrier is a Session or a Server that can connect at once instead of waiting for the next attempt,
// also after it stopped trying. Safe for concurrent use.
type Retrier interface{ Retry() }

// ErrWithdrawn is the error of a command that was withdrawn.
var ErrWithdrawn = errors.New("taken back")

// Update is one item that a Session yields: exactly one field is set.
type Update struct {
	Event    *protocol.Event           // durable ones continue the log
	Attached *protocol.SubscribeResult // its mode says whether to start over from its snapshot
	Conn     *Conn
}

// Updates are the updates of one frame, in order.
type Updates []Update

// Conn is the state of the connection.
type Conn struct {
	State      ConnState
	Connection string         // its id, as in protocol.Client
	By         protocol.Actor // the actor of commands sent here
	Attempt    int            // of reconnecting, from 1
	Retry      time.Time      // start of the next attempt
	Reason     string         // why it is not connected, for people
	Advice     string         // what people can do about it, if known
}

// ConnState says whether the server can be reached. The values are shown on the screen.
type ConnState string

// The connection states.
const (
	Connecting   ConnState = "connecting"
	Connected    ConnState = "connected"
	Reconnecting ConnState = "reconnecting"
	Offline      ConnState = "offline" // no further attempt, unless Retry asks for one
)

package remote

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"time"

	"agentctl/protocol"
)

// Session is a client's view of one session. It survives reconnects.
type Session interface {
	// Updates yields updates in order until ctx ends or the client stops trying to connect. In the
	// latter case the last update is an Offline Conn. It yields every event once, without gaps; the
	// receiver owns it. Updates must be called once. It panics if the client is broken: the screen
	// restores the terminal before the panic is reported.
	Updates(ctx context.Context) iter.Seq[Update]

	// Do runs a command and stores its result in result, which may be nil. It waits for a
	// connection until ctx ends and never runs a command twice. If the server refuses, the error is
	// a *protocol.Error. Do is safe for concurrent use.
	Do(ctx context.Context, verb protocol.Verb, data, result any) error
}

// Resumer is a Session whose updates can be read again after they ended with their context.
type Resumer interface {
	Session

	// Resumes reports whether the server continues updates after any position.
	Resumes() bool

	// UpdatesSince is Updates for a reader that has all events up to a position: it yields those
	// after it, or starts again with an attachment that says why. Only one call of Updates or
	// UpdatesSince may run at a time.
	UpdatesSince(ctx context.Context, since protocol.Position) iter.Seq[Update]
}

// Withdrawer is a Session that can withdraw a message while it waits for a connection. It is safe
// for concurrent use.
type Withdrawer interface {
	// Withdraw withdraws the message that Do sends with this client_message_id and reports whether
	// it did; Do then returns ErrWithdrawn. It fails if the server may already have the message.
	Withdraw(clientMessageID string) bool
}

// Retrier is a Session or a Server that can connect immediately instead of waiting for the next
// attempt, even after it stopped trying. It is safe for concurrent use.
type Retrier interface{ Retry() }

// Exporter is a Session that can be exported as a document. It is safe for concurrent use.
type Exporter interface {
	ExportFormats() []string

	// Export returns all events up to the call as a document.
	Export(ctx context.Context, format string) ([]byte, error)
}

// ErrWithdrawn is the error of a withdrawn command.
var ErrWithdrawn = errors.New("taken back")

// Update is one item of Session.Updates. Exactly one field is set.
type Update struct {
	Event    *protocol.Event           // durable events continue the log
	Attached *protocol.SubscribeResult // its mode decides whether to restart from its snapshot
	Conn     *Conn
}

// Updates are the updates of one frame, in order.
type Updates []Update

// Conn is the state of the connection.
type Conn struct {
	State      ConnState
	Connection string         // id, as in protocol.Client
	By         protocol.Actor // the actor of commands on this connection
	Attempt    int            // number of the reconnect attempt, from 1
	Retry      time.Time      // start of the next attempt
	Reason     string         // why it is not connected, shown to the user
	Advice     string         // action that the user can take, if known
}

// ConnState is the state of a connection. Its values are shown on the screen.
type ConnState string

// The connection states.
const (
	Connecting   ConnState = "connecting"
	Connected    ConnState = "connected"
	Closing      ConnState = "closing" // the connection has begun to end
	Reconnecting ConnState = "reconnecting"
	Offline      ConnState = "offline" // no further attempt until Retry is called
)

// DecodeData decodes the data of an event into a new T. Fields that cannot be decoded are zero.
func DecodeData[T any](data json.RawMessage) *T {
	d := new(T)
	_ = json.Unmarshal(data, d)
	return d
}

// Limits of a search.
const (
	HitsPerPage = 200
	MaxHits     = 10_000 // kept by a screen
)

package tui

import (
	"context"
	"errors"
	"iter"
	"time"

	"agentctl/protocol"
)

// Session is one session as a client follows it, over reconnects.
type Session interface {
	// Updates yields what happens, in order, until ctx ends or the session is
	// given up; before it gives up it yields a Link that is Offline. It is
	// called once. An event is yielded once, without gaps; what was yielded is
	// the receiver's.
	Updates(ctx context.Context) iter.Seq[Update]

	// Do carries out a command and fills result, which may be nil. It waits for
	// a connection until ctx ends and never carries out a command twice. What
	// the server refuses is a *protocol.Error. Safe for concurrent use.
	Do(ctx context.Context, verb protocol.Verb, data, result any) error
}

// Withdrawer is a Session that can take back a message that waits for a connection.
// Safe for concurrent use.
type Withdrawer interface {
	// Withdraw takes back the message that Do sends with a client_message_id, unless
	// it may have gone to the server, and reports whether it did: then Do returns
	// ErrWithdrawn.
	Withdraw(clientMessageID string) bool
}

// ErrWithdrawn is the end of what was withdrawn.
var ErrWithdrawn = errors.New("taken back")

// Update is one thing that a Session yields: exactly one field is set.
type Update struct {
	Event    *protocol.Event           // durable ones continue the log
	Attached *protocol.SubscribeResult // its mode says whether to start over from its snapshot
	Link     *Link
}

// Link is the state of the connection.
type Link struct {
	State      LinkState
	Connection string         // its id, as in protocol.Client
	By         protocol.Actor // what our actions are attributed to
	Attempt    int            // of reconnecting, from 1
	Retry      time.Time      // when the next attempt starts
	Reason     string         // why it is not connected, for people
	Advice     string         // what they can do about it, if that is known
}

// LinkState says whether the server can be reached. The values are what the
// screen shows.
type LinkState string

// The states of a link.
const (
	Connecting   LinkState = "connecting"
	Connected    LinkState = "connected"
	Reconnecting LinkState = "reconnecting"
	Offline      LinkState = "offline" // and it will not be tried again, unless somebody asks for it
)

package wsclient

import (
	"context"
	"errors"
	"iter"

	"agentctl/protocol"
)

// A Client is one connection to one server, kept up until Close. Its methods may be called by several goroutines. Everything
// that needs the connection connects; Connect does nothing else.
type Client struct {
	state *stateBox
}

// An Item is what a subscription yields: how it was attached, or an event.
type Item struct {
	Attached *protocol.SubscribeResult // at the start and after every reconnect
	Event    *protocol.Event           // durable, or ephemeral and without seq
	Raw      []byte                    // the event's line as on the wire, without its newline
}

// A Subscription follows one session.
type Subscription struct{}

var errUnbuilt = errors.New("not built")

// New makes a client of the server at url: ws://, wss://, http://, https://, or unix:// and the path of a socket. Without a path
// protocol.Path is meant. It does no I/O.
func New(url string, o Options) *Client { return &Client{state: newStateBox()} }

// Connect waits until the connection is open; concurrent calls share one attempt. Its error is a *ConnectError: refused, attempts
// used up, closed, or the context's end.
func (c *Client) Connect(ctx context.Context) error { return errUnbuilt }

// Close ends the connection and everything that waits on it, and waits for the client's goroutines. It never fails and may be
// called again.
func (c *Client) Close() error { return nil }

// Retry tries to connect now instead of after the delay, or again after the client went offline.
func (c *Client) Retry() {}

// Hello returns what the server said on the newest connection; zero before the first one.
func (c *Client) Hello() protocol.HelloResult { return protocol.HelloResult{} }

// Do sends a command and reads its answer's result into result, a pointer, or nil to ignore it. A command that changes state gets
// a key when it has none. It is sent again on every new connection until it is answered or ctx ends, also over a time
// offline. Errors: the server's *protocol.Error, *SendError, *DecodeError.
func (c *Client) Do(ctx context.Context, cmd protocol.Command, result any) error { return errUnbuilt }

// Call does a command with data (nil: none) and returns its result.
func Call[R any](ctx context.Context, c *Client, verb protocol.Verb, session string, data any) (R, error) {
	var r R
	return r, errUnbuilt
}

// Subscribe returns a subscription to a session (id, exact name or unique id prefix). It does nothing until Events.
func (c *Client) Subscribe(session string, o SubscribeOptions) *Subscription { return &Subscription{} }

// Events follows the session: attached, then its events, each once and in order, over any number of reconnects. It ends without
// an error when ctx ends, the caller stops, or Close is called on the subscription or the client; with one when the session
// cannot be followed. Called again it goes on after Position.
func (s *Subscription) Events(ctx context.Context) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) { yield(Item{}, errUnbuilt) }
}

// Position returns the place of the last item that Events yielded; zero before the first.
func (s *Subscription) Position() protocol.Position { return protocol.Position{} }

// Close ends the subscription. It may be called again.
func (s *Subscription) Close() {}

// Watch yields the summaries of all sessions, then their changes; over a reconnect what changed meanwhile, deleted sessions as
// Deleted. The newest of each session only. It ends as Subscription.Events does.
func (c *Client) Watch(ctx context.Context) iter.Seq2[protocol.Summary, error] {
	return func(yield func(protocol.Summary, error) bool) { yield(protocol.Summary{}, errUnbuilt) }
}

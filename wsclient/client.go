package wsclient

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"agentctl/protocol"
)

// A Client holds one connection to one server and reopens it until Close. All methods are safe for
// concurrent use. Every method that needs the connection opens it.
//
// A panic in a goroutine of the client closes the client: pending calls, subscriptions and watches
// end with a *panics.Error.
type Client struct {
	// Static after construction.
	options Options
	dialer  *dialer
	ops     chan func(*eventLoop) // unbuffered; the event loop receives promptly
	done    chan struct{}         // closed when the event loop has ended
	quit    chan struct{}         // closed by Close

	start, stop sync.Once
	state       *stateBox
	hello       atomic.Pointer[protocol.HelloResult] // never nil
	ephemeral   atomic.Bool
	window      atomic.Int64 // bytes, of the newest connection; 0: no acks
	owed        atomic.Int64 // bytes that subscriptions have consumed and not acknowledged
}

// New returns a client of the server at url. Supported schemes are ws, wss, http, https and unix
// (unix:///path/to/socket). A URL without a path gets protocol.Path. New does no I/O; an invalid
// URL or option fails the first connection attempt.
func New(url string, o Options) *Client {
	o = o.withDefaults()
	d := newDialer(url, o)
	if d.dialect != nil && o.MaxAttempts == 0 {
		o.MaxAttempts = d.dialect.Retry.Attempts
	}
	c := &Client{
		options: o,
		dialer:  d,
		ops:     make(chan func(*eventLoop)),
		done:    make(chan struct{}),
		quit:    make(chan struct{}),
		state:   newStateBox(),
	}
	c.hello.Store(new(protocol.HelloResult))
	return c
}

// post runs op on the event loop and starts the loop on first use. It returns false if the client
// is closed.
func (c *Client) post(op func(*eventLoop)) bool {
	c.start.Do(func() { go newEventLoop(c).run() })
	select {
	case c.ops <- op:
		return true
	case <-c.done:
		return false
	}
}

// Connect waits until the connection is open. Concurrent calls share one attempt. The error is a
// *ConnectError: the server refused the client, the attempts are exhausted, the client is closed,
// or ctx ended. The end of ctx does not cancel the attempt.
func (c *Client) Connect(ctx context.Context) error {
	result := make(chan error, 1)
	if !c.post(func(l *eventLoop) { l.await(result) }) {
		return c.dialer.connectionError(c.closeReason())
	}
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		c.post(func(l *eventLoop) { l.connector.removeWaiter(result) })
		err := ctx.Err()
		if last := c.State().Err; last != nil {
			err = fmt.Errorf("%w, after: %w", err, last)
		}
		return &ConnectError{URL: c.dialer.displayURL, Err: err}
	}
}

// Close closes the connection, ends every wait on the client, and waits for the client's
// goroutines. Until it returns, the state is closing. It always returns nil. Further calls only
// wait.
func (c *Client) Close() error {
	c.stop.Do(func() {
		c.state.end(ErrClosed)
		close(c.quit)
	})
	c.start.Do(func() { go newEventLoop(c).run() }) // ends immediately and closes done
	<-c.done
	return nil
}

// closeReason returns why a closed client is closed: ErrClosed or a *panics.Error.
func (c *Client) closeReason() error { return cmp.Or(c.State().Err, ErrClosed) }

// Retry starts a connection attempt now: instead of after the current delay, or again after the
// client went offline. It does nothing while the connection is open or an attempt is running.
// Repeated calls start at most one attempt every 250 ms.
func (c *Client) Retry() { c.post((*eventLoop).retryNow) }

// Dialect returns the name of the dialect, or "" for the native protocol.
func (c *Client) Dialect() string { return c.options.Dialect }

// Remote reports whether the server's URL names another machine.
func (c *Client) Remote() bool { return c.dialer.remote }

// Ephemeral reports whether sessions, turns and approvals of the server end with this client's
// connection: the dialect declares it, and the server of the newest connection is not agentctl.
func (c *Client) Ephemeral() bool { return c.ephemeral.Load() }

// Hello returns the server's answer to hello on the newest connection, or the zero value before
// the first connection.
func (c *Client) Hello() protocol.HelloResult { return *c.hello.Load() }

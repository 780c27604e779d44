package wsclient

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"agentctl/protocol"
)

// A Client is one connection to one server, kept up until Close. Its methods may be called by several goroutines. Everything
// that needs the connection connects; Connect does nothing else. A panic in one of its goroutines closes it: everything that waits
// ends with a *rescue.Error.
type Client struct {
	// Static after construction.
	options Options
	dialer  *dialer
	ops     chan func(*loop) // to the loop, which always takes them soon
	done    chan struct{}    // closed when the loop is over
	quit    chan struct{}    // closed by Close

	start, stop sync.Once
	state       *stateBox
	hello       atomic.Pointer[protocol.HelloResult]
	window      atomic.Int64 // bytes, of the newest connection; 0: no acks
}

// New makes a client of the server at url: ws://, wss://, http://, https://, or unix:// and the path of a socket. Without a path
// protocol.Path is meant. It does no I/O.
func New(url string, o Options) *Client {
	o = o.withDefaults()
	d := newDialer(url, o)
	if d.dialect != nil && o.MaxAttempts == 0 {
		o.MaxAttempts = d.dialect.Retry.Attempts
	}
	return &Client{
		options: o,
		dialer:  d,
		ops:     make(chan func(*loop)),
		done:    make(chan struct{}),
		quit:    make(chan struct{}),
		state:   newStateBox(),
	}
}

// post has the loop run op, starting the loop when it is the first; false when the client is closed.
func (c *Client) post(op func(*loop)) bool {
	c.start.Do(func() { go newLoop(c).run() })
	select {
	case c.ops <- op:
		return true
	case <-c.done:
		return false
	}
}

// Connect waits until the connection is open; concurrent calls share one attempt. Its error is a *ConnectError: refused, attempts
// used up, closed, or the context's end.
func (c *Client) Connect(ctx context.Context) error {
	w := make(waiter, 1)
	if !c.post(func(l *loop) { l.await(w) }) {
		return c.dialer.lost(c.over())
	}
	select {
	case err := <-w:
		return err
	case <-ctx.Done():
		c.post(func(l *loop) { l.leave(w) })
		err := ctx.Err()
		if last := c.State().Err; last != nil {
			err = fmt.Errorf("%w, after: %w", err, last)
		}
		return &ConnectError{URL: c.dialer.shown, Err: err}
	}
}

// Close ends the connection and everything that waits on it, and waits for the client's goroutines. It never fails and may be
// called again.
func (c *Client) Close() error {
	c.stop.Do(func() { close(c.quit) })
	c.start.Do(func() { go newLoop(c).run() }) // ends at once
	<-c.done
	return nil
}

// over is why a client that is closed is: somebody closed it, or it broke.
func (c *Client) over() error { return cmp.Or(c.State().Err, ErrClosed) }

// Retry tries to connect now instead of after the delay, or again after the client went offline. It does nothing to a
// connection that is open or under way, and asked again and again it tries at most every quarter of a second.
func (c *Client) Retry() { c.post((*loop).retryNow) }

// Hello returns what the server said on the newest connection; zero before the first one.
func (c *Client) Hello() protocol.HelloResult {
	if h := c.hello.Load(); h != nil {
		return *h
	}
	return protocol.HelloResult{}
}

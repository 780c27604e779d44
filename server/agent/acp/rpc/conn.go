package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
)

// queueLen is the maximum number of messages waiting to be written.
const queueLen = 64

// ErrClosed is wrapped by the errors of a Conn after the peer has disconnected.
var ErrClosed = errors.New("connection closed")

// Handler handles requests and notifications of the peer. Its methods are called from the reading
// goroutine, in the order of arrival, responses included: when Call returns, everything before the
// response has been handled. Reading continues when a method returns. The byte slices belong to the
// callee, except for the line of HandleLine.
type Handler interface {
	// HandleLine handles a line in a form that it knows before it is decoded, and reports whether
	// it did. The line is valid until it returns, and may be invalid JSON.
	HandleLine(line []byte) bool
	// HandleNotification handles a notification.
	HandleNotification(method string, params json.RawMessage)
	// HandleRequest handles a request. It must be answered with Reply or ReplyError, now or later.
	HandleRequest(req *Request)
	// HandleInvalid handles a line that is not a JSON-RPC message, or the start of a line that is
	// too long.
	HandleInvalid(line []byte, err error)
}

// Request is a request from the peer.
type Request struct {
	Method string
	Params json.RawMessage

	id     json.RawMessage
	conn   *Conn
	ctx    context.Context
	cancel context.CancelFunc
}

// Context returns a context that ends when the peer withdraws the request, when the request is
// answered, or with the connection.
func (r *Request) Context() context.Context { return r.ctx }

// Conn is a connection. Its exported methods are safe for concurrent use.
type Conn struct {
	handler  Handler
	outgoing chan []byte
	done     chan struct{}
	wg       sync.WaitGroup

	mu       sync.Mutex
	lastID   int64
	pending  map[int64]pendingCall
	incoming map[string]*Request // not answered, by id
	closeErr error               // set before done is closed, not changed afterwards
}

// pendingCall is a call without a response.
type pendingCall struct {
	answer   chan message          // capacity 1, so that the reader never waits
	answered func(json.RawMessage) // called by the reader; may be nil
}

// New returns a connection that reads from r and writes to w. It ends when either fails. To end it,
// the owner closes w and r and then calls Wait.
func New(r io.Reader, w io.Writer, h Handler) *Conn {
	c := &Conn{
		handler:  h,
		outgoing: make(chan []byte, queueLen),
		done:     make(chan struct{}),
		pending:  map[int64]pendingCall{},
		incoming: map[string]*Request{},
	}
	c.wg.Go(func() { c.readLoop(newLineReader(r)) })
	c.wg.Go(func() { c.writeLoop(w) })
	return c
}

// Wait returns when both directions have ended and no Handler method runs.
func (c *Conn) Wait() { c.wg.Wait() }

// Done returns a channel that is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Call sends a request and returns the result. The error is a *Error when the peer answered with an
// error, and wraps ErrClosed when the connection ended. When ctx ends, the request is withdrawn.
func (c *Conn) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	return c.CallThen(ctx, method, params, nil)
}

// CallThen is Call with a function that the reading goroutine calls at the response, before it
// handles what the peer has sent after it. The result is nil if the peer answered with an error.
func (c *Conn) CallThen(
	ctx context.Context, method string, params any, answered func(result json.RawMessage),
) (json.RawMessage, error) {
	c.mu.Lock()
	c.lastID++
	id := c.lastID
	answer := make(chan message, 1)
	c.pending[id] = pendingCall{answer, answered}
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.pending, id)
		c.mu.Unlock()
	}()

	if err := c.send(ctx, outgoing{ID: strconv.AppendInt(nil, id, 10), Method: method, Params: params}); err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	var m message
	select {
	case m = <-answer:
	case <-ctx.Done():
		c.withdraw(id)
		return nil, fmt.Errorf("%s: %w", method, ctx.Err())
	case <-c.done:
		// The response may have been the last message read.
		select {
		case m = <-answer:
		default:
			return nil, fmt.Errorf("%s: %w", method, c.closeErr)
		}
	}
	result, err := m.unpack()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	return result, nil
}

// Notify sends a notification.
func (c *Conn) Notify(ctx context.Context, method string, params any) error {
	if err := c.send(ctx, outgoing{Method: method, Params: params}); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// Reply answers the request with a result.
func (r *Request) Reply(ctx context.Context, result any) error {
	return r.answer(ctx, outgoing{ID: r.id, Result: result})
}

// ReplyError answers the request with an error.
func (r *Request) ReplyError(ctx context.Context, code int, text string) error {
	return r.answer(ctx, outgoing{ID: r.id, Error: &Error{Code: code, Message: text}})
}

func (r *Request) answer(ctx context.Context, m outgoing) error {
	defer r.conn.close(r)
	if err := r.conn.send(ctx, m); err != nil {
		return fmt.Errorf("answer %s: %w", r.Method, err)
	}
	return nil
}

func (c *Conn) send(ctx context.Context, m outgoing) error {
	m.Version = "2.0"
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	select {
	case <-c.done:
		return c.closeErr
	default:
	}
	select {
	case c.outgoing <- append(b, '\n'):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-c.done:
		return c.closeErr
	}
}

// closeWith closes done. Only the first cause is kept.
func (c *Conn) closeWith(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closeErr == nil {
		c.closeErr = fmt.Errorf("%w: %w", ErrClosed, cause)
		close(c.done)
		for _, r := range c.incoming {
			r.cancel()
		}
		clear(c.incoming)
	}
}

func (c *Conn) writeLoop(w io.Writer) {
	for {
		select {
		case b := <-c.outgoing:
			if _, err := w.Write(b); err != nil {
				c.closeWith(err)
				return
			}
		case <-c.done:
			return
		}
	}
}

func (c *Conn) readLoop(r *lineReader) {
	for {
		line, err := r.next()
		switch {
		case errors.Is(err, errTooLong):
			c.handler.HandleInvalid(bytes.Clone(line), err)
		case err != nil:
			c.closeWith(err)
			return
		case len(bytes.TrimSpace(line)) > 0 && !c.handler.HandleLine(line):
			c.dispatch(line)
		}
	}
}

// dispatch passes one line to its handler or call.
func (c *Conn) dispatch(line []byte) {
	m, err := decode(line)
	switch {
	case err != nil:
		c.handler.HandleInvalid(bytes.Clone(line), err)
	case m.Method == "":
		c.deliver(m)
	case m.ID != nil:
		c.handler.HandleRequest(c.open(m))
	case m.Method == cancelMethod:
		c.cancelIncoming(m.Params)
	default:
		c.handler.HandleNotification(m.Method, m.Params)
	}
}

// deliver passes a response to its Call. A response without a pending call is dropped.
func (c *Conn) deliver(m message) {
	text := string(m.ID)
	if s, err := strconv.Unquote(text); err == nil { // some peers send numbers as strings
		text = s
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return
	}
	c.mu.Lock()
	call := c.pending[id]
	delete(c.pending, id)
	c.mu.Unlock()
	if call.answered != nil {
		call.answered(m.Result)
	}
	if call.answer != nil {
		call.answer <- m
	}
}

package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"agentctl/internal/panics"
	"agentctl/protocol"
	"agentctl/server/session"
	"agentctl/server/web"
)

// A conn is a client's connection. One goroutine reads and runs commands, one writes the outbox.
type conn struct {
	// Static after construction.

	server    *Server
	id        string
	transport transport
	socket    net.Conn // below transport
	caller    caller   // as authenticated
	limiter   *rateLimiter
	slots     chan struct{} // one for each command, until its answer is written

	outbox
	closing   closing
	attaching sync.WaitGroup // subscribe commands in progress
	pings     sync.WaitGroup

	mu       sync.Mutex // guards the fields below; held briefly
	user     protocol.Actor
	program  string
	lastRead time.Time
}

// A closing is the end of a connection. code and reason are set before ctx is canceled.
type closing struct {
	once   sync.Once
	ctx    context.Context
	cancel context.CancelFunc
	code   websocket.StatusCode
	reason string
}

var _ session.Subscriber = (*conn)(nil)

// accept upgrades a request to a native connection and serves it.
func (s *Server) accept(w http.ResponseWriter, r *http.Request) {
	ws, frames := upgradeSocket(w, r, protocol.Subprotocol)
	if ws == nil {
		return
	}
	ws.SetReadLimit(-1) // nativeTransport bounds messages and reports the limit
	native := &nativeTransport{Conn: ws, frames: frames, limit: s.limits.Load().Message}
	s.serve(native, socketOf(r).Conn, callerOf(r, web.RemoteName(r)))
}

// upgradeSocket upgrades a request to a WebSocket, and returns it with the connection that writes its text
// messages. If it returns nil, it has answered the request.
func upgradeSocket(w http.ResponseWriter, r *http.Request, subprotocols ...string) (*websocket.Conn, *frameSocket) {
	u := &upgradeWriter{ResponseWriter: w}
	ws, err := websocket.Accept(u, r, &websocket.AcceptOptions{
		Subprotocols: subprotocols, CompressionMode: websocket.CompressionDisabled,
		InsecureSkipVerify: true, // the listener has checked the origin
	})
	if err != nil {
		return nil, nil
	}
	return ws, u.socket
}

// serve serves a connection, which counts as a request until it ends. It does not wait for the end,
// so that the request, its context and the stack of its goroutine are freed.
func (s *Server) serve(t transport, socket net.Conn, from caller) {
	limits := s.limits.Load()
	c := &conn{
		server: s, id: "c_" + session.NewEpoch(), transport: t, socket: socket, caller: from,
		limiter: newRateLimiter(limits.Rate), slots: make(chan struct{}, limits.InFlight),
		outbox: outbox{wake: make(chan struct{}, 1)}, user: from.by, lastRead: time.Now(),
	}
	c.closing.ctx, c.closing.cancel = context.WithCancel(context.Background())
	if d, ok := t.(dialectTransport); ok {
		d.SetHost(dialectHost{c})
	}
	s.addConn(c)
	stop := s.whileValid(from, c.endCredential)
	s.keepRequest()
	go func() {
		defer s.endRequest()
		defer s.removeConn(c)
		defer stop()
		c.run()
	}()
}

// run reads and writes until the connection ends, then detaches it from its sessions. A panic ends
// only this connection.
func (c *conn) run() {
	written := make(chan struct{})
	go func() {
		defer close(written)
		c.recoverPanic(c.writeLoop)
	}()
	c.recoverPanic(c.readLoop)
	<-written
	c.pings.Wait()
	c.attaching.Wait()
	c.server.hub.Sessions().Unwatch(c)
	for _, sub := range c.unsubscribeAll() {
		c.server.hub.Detach(sub.session, c.id, c.closing.reason)
	}
}

// recoverPanic runs work. A panic ends the connection.
func (c *conn) recoverPanic(work func()) {
	if p := panics.As(panics.Call(work)); p != nil {
		c.logPanic(p)
		c.close(websocket.StatusInternalError, "internal error; see the server's log")
		_ = c.transport.CloseNow() // the other goroutine may wait for it
	}
}

func (c *conn) logPanic(p *panics.Error) {
	c.server.log.Error("connection failed", "conn", c.id, "err", p, "stack", string(p.Stack))
}

// closeTimeout bounds the last writes and the closing handshake of a connection.
const closeTimeout = 5 * time.Second

// close ends the connection with a close code and a reason after the control buffer is written. The
// first call counts.
func (c *conn) close(code websocket.StatusCode, reason string) {
	c.closing.once.Do(func() {
		c.closing.code, c.closing.reason = code, reason
		_ = c.socket.SetDeadline(time.Now().Add(closeTimeout))
		c.closing.cancel()
	})
}

// closed reports whether close was called.
func (c *conn) closed() bool { return c.closing.ctx.Err() != nil }

// abort ends the connection immediately.
func (c *conn) abort() { _ = c.socket.SetDeadline(time.Now()) }

// readLoop reads and runs commands until the connection ends.
func (c *conn) readLoop() {
	defer c.close(websocket.StatusProtocolError, "")
	for {
		message, err := c.transport.Read(context.Background())
		forClient := clientError(err)
		if err != nil && forClient == nil {
			if p := panics.As(err); p != nil { // of a dialect
				c.logPanic(p)
			}
			c.server.log.Debug("connection ends", "conn", c.id, "err", err)
			var asked websocket.CloseError // by a dialect; the library has answered a client's close
			if errors.As(err, &asked) {
				c.close(asked.Code, asked.Reason)
			}
			return
		}
		c.mu.Lock()
		c.lastRead = time.Now()
		c.mu.Unlock()
		if forClient != nil {
			if c.acquireSlot() {
				c.answer("", nil, forClient)
			}
			if forClient.Code == protocol.CodeTooLarge {
				c.close(protocol.CloseTooLarge, forClient.Message)
				return
			}
			continue
		}
		for line := range protocol.Lines(message) {
			if !c.handle(line) {
				return
			}
		}
	}
}

// handle runs one command. It returns false when the connection ends. A client that has a
// subscription may acknowledge it.
func (c *conn) handle(line []byte) bool {
	if id, seq, ok := parseAck(line); ok && c.ack(id, seq) {
		return true
	}
	cmd, err := protocol.DecodeCommand(bytes.Clone(line))
	if err == nil {
		err = c.caller.authorize(&cmd, c.resolve)
	}
	if err == nil && cmd.Command == protocol.DoAck {
		if err = c.handleAck(&cmd); err == nil {
			return true
		}
	}
	if err == nil && !c.limiter.allow() {
		err = c.limiter.refusal()
	}
	if !c.acquireSlot() {
		return false
	}
	if err != nil {
		c.answer(cmd.ID, nil, err)
		return true
	}
	c.do(&cmd)
	return true
}

// acquireSlot waits for a slot. It returns false when the connection ends.
func (c *conn) acquireSlot() bool {
	select {
	case c.slots <- struct{}{}:
		return true
	case <-c.closing.ctx.Done():
		return false
	}
}

// answer queues the answer to a command, which keeps its slot until it is written. A command
// without an id is answered only when it fails.
func (c *conn) answer(id string, result json.RawMessage, err error) {
	if id == "" && err == nil {
		<-c.slots
		return
	}
	a := protocol.Answer{ID: id, Result: result}
	if err == nil {
		err = checkResult(result)
	}
	if err != nil {
		a.Result, a.Error = nil, protocol.AsError(err)
		c.server.traffic.failed(a.Error.Code)
		if a.Error.Code == protocol.CodeInternal {
			c.server.log.Error("command failed", "conn", c.id, "actor", c.Actor().Name, "err", err)
		} else {
			c.server.log.Debug("command refused", "conn", c.id, "actor", c.Actor().Name, "code", a.Error.Code)
		}
	}
	c.addAnswer(protocol.MustEncode(a))
}

// ID implements session.Subscriber.
func (c *conn) ID() string { return c.id }

// Actor implements session.Subscriber.
func (c *conn) Actor() protocol.Actor {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.user
}

// Program implements session.Subscriber.
func (c *conn) Program() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.program
}

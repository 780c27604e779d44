package server

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"agentctl/protocol"
	"agentctl/server/session"
)

// A conn is one client's connection. One goroutine reads commands, one writes: first the control buffer, then the
// subscriptions in turn. Sessions and the hub only put things into its buffers and wake it.
type conn struct {
	// Static after construction.

	server *Server
	id     string
	wire   wire
	peer   string // where it comes from
	role   protocol.Role
	slots  chan struct{} // one for each command under way, until its answer is written
	wake   chan struct{} // capacity 1
	over   chan struct{} // closed when the connection is to end
	ending sync.Once
	parked atomic.Bool    // the writer waits for wake
	joins  sync.WaitGroup // subscribes under way

	// Owned by the reader.

	watching bool

	mu      sync.Mutex // guards what follows; held for moments
	who     protocol.Actor
	program string
	window  int64 // 0: none
	unacked int64
	control control
	subs    []*subscription
	code    websocket.StatusCode // to close with
	reason  string
	heard   time.Time // when the client was last heard of
}

var _ session.Peer = (*conn)(nil)

// accept opens a connection and serves it until it ends.
func (s *Server) accept(w http.ResponseWriter, r *http.Request) {
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols: []string{protocol.Subprotocol}, CompressionMode: websocket.CompressionDisabled,
		InsecureSkipVerify: true, // the listener's guard has looked at the origin
	})
	if err != nil {
		return // answered
	}
	ws.SetReadLimit(-1) // native bounds it and tells the client why
	s.serve(&native{ws, s.limits.Message}, r.RemoteAddr, callerOf(r, "anonymous"))
}

// serve serves a connection until it ends.
func (s *Server) serve(w wire, peer string, who caller) {
	c := &conn{
		server: s, id: "c_" + session.NewEpoch(), wire: w, peer: peer, role: who.role, slots: make(chan struct{}, s.limits.InFlight),
		wake: make(chan struct{}, 1), over: make(chan struct{}), who: who.by, heard: time.Now(),
	}
	if !s.enter(c) {
		_ = w.Close(protocol.CloseGoingAway, "the server is stopping")
		return
	}
	defer s.leave(c)
	c.serve()
}

func (c *conn) serve() {
	written := make(chan struct{})
	go func() {
		defer close(written)
		c.write()
	}()
	c.read()
	<-written
	c.joins.Wait()
	c.mu.Lock()
	subs := c.subs
	c.subs = nil
	reason := c.reason
	c.mu.Unlock()
	c.server.hub.Unwatch(c)
	for _, sub := range subs {
		c.server.hub.Detach(sub.session, c.id, reason)
	}
}

// close ends the connection with a close code and a reason, once what is in the control buffer is written. The first one stays.
func (c *conn) close(code websocket.StatusCode, reason string) {
	c.ending.Do(func() {
		c.mu.Lock()
		c.code, c.reason = code, reason
		c.mu.Unlock()
		close(c.over)
	})
}

// read takes commands until the connection ends.
func (c *conn) read() {
	defer c.close(websocket.StatusNormalClosure, "")
	for {
		message, err := c.wire.Read(context.Background())
		c.mu.Lock()
		c.heard = time.Now()
		c.mu.Unlock()
		if e := bad(err); e != nil {
			c.answer("", nil, e)
			if e.Code == protocol.CodeTooLarge {
				c.close(protocol.CloseTooLarge, e.Message)
				return
			}
			continue
		}
		if err != nil {
			c.server.log.Debug("connection ends", "conn", c.id, "err", err)
			var asked websocket.CloseError // by a dialect: a peer's own close is answered already
			if errors.As(err, &asked) {
				c.close(asked.Code, asked.Reason)
			}
			return
		}
		for line := range protocol.Lines(message) {
			if !c.take(line) {
				return
			}
		}
	}
}

// take carries out one command; false when the connection ends.
func (c *conn) take(line []byte) bool {
	cmd, err := protocol.DecodeCommand(line)
	if err == nil && !c.role.May(cmd.Command) {
		err = protocol.Errorf(protocol.CodeForbidden, "the role %s may not %s", c.role, cmd.Command)
	}
	if err == nil && cmd.Command == protocol.DoAck {
		if err = c.ack(&cmd); err == nil {
			return true
		}
	}
	select {
	case c.slots <- struct{}{}:
	case <-c.over:
		return false
	}
	if err != nil {
		c.settle(cmd.ID, nil, err)
		return true
	}
	c.do(&cmd)
	return true
}

// Wake wakes the writer if it waits.
func (c *conn) Wake() {
	if c.parked.CompareAndSwap(true, false) {
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}
}

// ID, Actor and Program say who this is.
func (c *conn) ID() string { return c.id }

// Actor implements session.Peer.
func (c *conn) Actor() protocol.Actor {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.who
}

// Program implements session.Peer.
func (c *conn) Program() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.program
}

// Tell implements session.Peer and session.Watcher.
func (c *conn) Tell(key string, line []byte) {
	c.mu.Lock()
	c.control.tell(key, line)
	c.mu.Unlock()
	c.Wake()
}

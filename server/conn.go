package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"agentctl/protocol"
	"agentctl/server/session"
	"agentctl/server/web"
)

// A conn is one client's connection. One goroutine reads commands, one writes: first the control buffer, then the
// subscriptions in turn. Sessions and the hub only put things into its buffers and wake it.
type conn struct {
	// Static after construction.

	server *Server
	id     string
	wire   wire
	socket net.Conn // below wire
	role   protocol.Role
	rate   *rate
	slots  chan struct{} // one for each command under way, until its answer is written
	wake   chan struct{} // capacity 1
	over   chan struct{} // closed when the connection is to end
	ending sync.Once
	parked atomic.Bool    // the writer waits for wake
	joins  sync.WaitGroup // subscribes under way
	pings  sync.WaitGroup

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

var _ session.Subscriber = (*conn)(nil)

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
	s.serve(&native{ws, s.limits.Message}, socketOf(r), callerOf(r, web.Peer(r)))
}

// serve serves a connection until it ends.
func (s *Server) serve(w wire, socket net.Conn, who caller) {
	c := &conn{
		server: s, id: "c_" + session.NewEpoch(), wire: w, socket: socket, role: who.role, rate: newRate(s.limits.Rate), slots: make(chan struct{}, s.limits.InFlight),
		wake: make(chan struct{}, 1), over: make(chan struct{}), who: who.by, heard: time.Now(),
	}
	s.enter(c)
	defer s.leave(c)
	if !who.until.IsZero() {
		expires := time.AfterFunc(time.Until(who.until), func() { c.close(protocol.ClosePolicy, tokenExpired) })
		defer expires.Stop()
	}
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
	c.pings.Wait()
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

// farewell bounds what a connection may still take once it is to end: its last words and the closing handshake.
const farewell = 5 * time.Second

// close ends the connection with a close code and a reason, once what is in the control buffer is written. The first one stays.
func (c *conn) close(code websocket.StatusCode, reason string) {
	c.ending.Do(func() {
		c.mu.Lock()
		c.code, c.reason = code, reason
		c.mu.Unlock()
		_ = c.socket.SetDeadline(time.Now().Add(farewell))
		close(c.over)
	})
}

// ended reports whether close was called.
func (c *conn) ended() bool {
	select {
	case <-c.over:
		return true
	default:
		return false
	}
}

// cut ends the connection at once.
func (c *conn) cut() { _ = c.socket.SetDeadline(time.Now()) }

// read takes commands until the connection ends: by the client, who is answered already, by a frame that breaks the rules, or
// from this side.
func (c *conn) read() {
	defer c.close(websocket.StatusProtocolError, "")
	for {
		message, err := c.wire.Read(context.Background())
		refused := refusal(err)
		if err != nil && refused == nil {
			c.server.log.Debug("connection ends", "conn", c.id, "err", err)
			var asked websocket.CloseError // by a dialect: a peer's own close is answered already
			if errors.As(err, &asked) {
				c.close(asked.Code, asked.Reason)
			}
			return
		}
		c.mu.Lock()
		c.heard = time.Now()
		c.mu.Unlock()
		if refused != nil {
			if c.slot() {
				c.settle("", nil, refused)
			}
			if refused.Code == protocol.CodeTooLarge {
				c.close(protocol.CloseTooLarge, refused.Message)
				return
			}
			continue
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
	if err == nil && !c.rate.take() {
		err = &protocol.Error{Code: protocol.CodeTooMany, Message: "too many commands a second", Limit: int64(c.rate.most)}
	}
	if !c.slot() {
		return false
	}
	if err != nil {
		c.settle(cmd.ID, nil, err)
		return true
	}
	c.do(&cmd)
	return true
}

// slot waits for one; false when the connection ends.
func (c *conn) slot() bool {
	select {
	case c.slots <- struct{}{}:
		return true
	case <-c.over:
		return false
	}
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

// ID implements session.Peer.
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

// Notify implements session.Peer and session.Watcher.
func (c *conn) Notify(key string, line []byte) {
	c.mu.Lock()
	c.control.tell(key, line)
	c.mu.Unlock()
	c.Wake()
}

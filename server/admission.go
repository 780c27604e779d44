package server

import (
	"container/list"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/server/web"
)

// An admission bounds the network connections of a server, so that no client keeps others out.
// Connections whose sender is not known yet are counted apart: a connection over the limit closes
// the oldest. Connections of known senders are bounded for each sender and in total; the owner and
// admins have an additional reserve. Its methods may be called from any goroutine.
type admission struct {
	mu       sync.Mutex
	limits   Limits
	unknown  list.List      // of *socket, oldest first
	known    int            // connections of known senders
	bySender map[string]int // of known
}

// A socket is a network connection that an admission counts.
type socket struct {
	net.Conn
	admission *admission
	peer      peer
	requests  *rateLimiter // of commands over HTTP; owned by the goroutine that serves the connection

	// Guarded by admission.mu.
	place  *list.Element // in unknown; nil: admitted or closed
	sender string        // if admitted
	known  bool
	closed bool
}

// A peer is the other end of a socket, looked up with the first request.
type peer struct {
	lookup sync.Once
	agent  string // the session whose agent connected; empty: a user
	err    error
}

func newAdmission(limits Limits) *admission {
	return &admission{limits: limits, bySender: map[string]int{}}
}

// setLimits changes the limits of connections that are opened later.
func (a *admission) setLimits(limits Limits) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.limits = limits
}

// A countedListener is a listener whose connections are counted.
type countedListener struct {
	net.Listener
	admission *admission
}

func (l countedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.admission.add(c), nil
}

// add counts a connection of an unknown sender.
func (a *admission) add(c net.Conn) *socket {
	s := &socket{Conn: c, admission: a}
	a.mu.Lock()
	s.requests = newRateLimiter(a.limits.Rate)
	s.place = a.unknown.PushBack(s)
	var oldest *socket
	if a.unknown.Len() > a.limits.Unauthenticated {
		oldest = a.unknown.Front().Value.(*socket)
	}
	a.mu.Unlock()
	if oldest != nil {
		_ = oldest.Close()
	}
	return s
}

// admit counts a connection as its sender's. privileged opens the reserve. The error has the code
// connection_limit.
func (a *admission) admit(s *socket, sender string, privileged bool) *protocol.Error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s.closed || s.known && s.sender == sender {
		return nil
	}
	limit := a.limits.Connections
	switch {
	case privileged:
		limit += a.limits.Reserve
	case a.bySender[sender] >= a.limits.PerSender:
		return protocol.Exceeded(protocol.CodeConnectionLimit, a.limits.PerSender,
			"this user has too many connections: close some")
	}
	if a.known >= limit {
		return protocol.Exceeded(protocol.CodeConnectionLimit, limit,
			"the server has too many connections: try again later")
	}
	a.forget(s)
	s.known, s.sender = true, sender
	a.known++
	a.bySender[sender]++
	return nil
}

// forget requires mu.
func (a *admission) forget(s *socket) {
	if s.place != nil {
		a.unknown.Remove(s.place)
		s.place = nil
	}
	if !s.known {
		return
	}
	s.known = false
	a.known--
	if a.bySender[s.sender]--; a.bySender[s.sender] == 0 {
		delete(a.bySender, s.sender)
	}
}

// Close closes the connection and counts it out.
func (s *socket) Close() error {
	s.admission.mu.Lock()
	s.closed = true
	s.admission.forget(s)
	s.admission.mu.Unlock()
	return s.Conn.Close()
}

// socketUnder returns the counted connection below c.
func socketUnder(c net.Conn) *socket {
	for {
		switch under := c.(type) {
		case *socket:
			return under
		case interface{ NetConn() net.Conn }: // TLS
			c = under.NetConn()
		default:
			return nil
		}
	}
}

// bodyTimeout bounds the time to receive the body of a request.
const bodyTimeout = 10 * time.Second

// boundBody sets a deadline for the body of a request, until all of it was read.
func boundBody(w http.ResponseWriter, r *http.Request) {
	if r.Body == nil || r.Body == http.NoBody {
		return
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout))
	r.Body = &boundedBody{r.Body, control}
}

type boundedBody struct {
	io.ReadCloser
	control *http.ResponseController
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// refuseConnection answers a request over a limit of connections, and ends its connection.
func refuseConnection(w http.ResponseWriter, err *protocol.Error) {
	w.Header().Set("Connection", "close")
	w.Header().Set("Retry-After", "1")
	web.WriteError(w, http.StatusServiceUnavailable, err.Code, err.Message)
}

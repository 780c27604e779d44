package wsclient

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"agentctl/internal/dev/memory"
	"agentctl/internal/dev/thorough"
	"agentctl/protocol"
)

func TestMain(m *testing.M) {
	thorough.Checks(40, 100)
	memory.Use()
	goleak.VerifyTestMain(m)
}

// A fakeServer is an HTTP server on an in-memory listener. The test controls its connections.
type fakeServer struct {
	t        testing.TB
	accepted chan net.Conn
	conns    chan *serverConn
	server   *http.Server
	closed   chan struct{}

	mu      sync.Mutex
	dials   []time.Time
	dialErr error            // error of dialing; nil: none
	handler http.HandlerFunc // replaces the WebSocket handler
}

// withFakeServer runs a test with a fake server and a client, in virtual time.
func withFakeServer(t *testing.T, o Options, test func(t *testing.T, f *fakeServer, c *Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeServer(t)
		defer f.close()
		c := f.client(o)
		defer c.Close()
		test(t, f, c)
	})
}

func newFakeServer(t testing.TB) *fakeServer {
	f := &fakeServer{
		t:        t,
		accepted: make(chan net.Conn),
		conns:    make(chan *serverConn, 16),
		closed:   make(chan struct{}),
	}
	f.server = &http.Server{Handler: f}
	go func() { _ = f.server.Serve(f) }()
	return f
}

func (f *fakeServer) client(o Options) *Client {
	o.Dial = f.dial
	if o.Rand == nil {
		o.Rand = func() float64 { return 0 }
	}
	return New("ws://server", o)
}

func (f *fakeServer) close() { _ = f.server.Close() }

func (f *fakeServer) dial(ctx context.Context) (net.Conn, error) {
	f.mu.Lock()
	f.dials = append(f.dials, time.Now())
	down := f.dialErr
	f.mu.Unlock()
	if down != nil {
		return nil, down
	}
	client, server := net.Pipe()
	select {
	case f.accepted <- server:
		return client, nil
	case <-f.closed: // http.Transport may dial after the end of the request, without its context
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

var errDown = errors.New("connection refused")

func (f *fakeServer) setDialError(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dialErr = err
}

func (f *fakeServer) setHandler(h http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handler = h
}

func (f *fakeServer) dialTimes() []time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]time.Time(nil), f.dials...)
}

// The methods of net.Listener.

func (f *fakeServer) Accept() (net.Conn, error) {
	select {
	case c := <-f.accepted:
		return c, nil
	case <-f.closed:
		return nil, net.ErrClosed
	}
}

func (f *fakeServer) Close() error   { close(f.closed); return nil }
func (f *fakeServer) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }

func (f *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	refuse := f.handler
	f.mu.Unlock()
	if refuse != nil {
		refuse(w, r)
		return
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{protocol.Subprotocol}})
	if err != nil {
		f.t.Error(err)
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(protocol.MaxMessage)
	p := &serverConn{
		t:        f.t,
		ws:       conn,
		request:  r,
		commands: make(chan protocol.Command, 1<<16),
		acks:     make(chan protocol.Command, 1<<16),
	}
	f.conns <- p
	p.read()
}

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

	"agentctl/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A fake is a server on an in-memory listener, whose connections the test itself drives.
type fake struct {
	t        testing.TB
	accepted chan net.Conn
	peers    chan *peer
	server   *http.Server
	closed   chan struct{}

	mu     sync.Mutex
	dials  []time.Time
	down   error            // what dialing fails with
	refuse http.HandlerFunc // instead of accepting
}

// inBubble runs a test against a fake server with a clock of its own.
func inBubble(t *testing.T, o Options, test func(t *testing.T, f *fake, c *Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		defer f.close()
		c := f.client(o)
		defer c.Close()
		test(t, f, c)
	})
}

func newFake(t testing.TB) *fake {
	f := &fake{t: t, accepted: make(chan net.Conn), peers: make(chan *peer, 16), closed: make(chan struct{})}
	f.server = &http.Server{Handler: f}
	go func() { _ = f.server.Serve(f) }()
	return f
}

func (f *fake) client(o Options) *Client {
	o.Dial = f.dial
	if o.Rand == nil {
		o.Rand = func() float64 { return 0 }
	}
	return New("ws://server", o)
}

func (f *fake) close() { _ = f.server.Close() }

func (f *fake) dial(ctx context.Context) (net.Conn, error) {
	f.mu.Lock()
	f.dials = append(f.dials, time.Now())
	down := f.down
	f.mu.Unlock()
	if down != nil {
		return nil, down
	}
	ours, theirs := net.Pipe()
	select {
	case f.accepted <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

var errDown = errors.New("connection refused")

func (f *fake) setDown(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = err
}

func (f *fake) setRefuse(h http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse = h
}

func (f *fake) dialed() []time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]time.Time(nil), f.dials...)
}

// The listener of the server.

func (f *fake) Accept() (net.Conn, error) {
	select {
	case c := <-f.accepted:
		return c, nil
	case <-f.closed:
		return nil, net.ErrClosed
	}
}

func (f *fake) Close() error   { close(f.closed); return nil }
func (f *fake) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	refuse := f.refuse
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
	p := &peer{t: f.t, conn: conn, request: r, commands: make(chan protocol.Command, 1<<16), acks: make(chan protocol.Command, 1<<16)}
	f.peers <- p
	p.read()
}

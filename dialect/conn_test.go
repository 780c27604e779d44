package dialect

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"agentctl/internal/dev/memory"
	"agentctl/internal/dev/thorough"
	"agentctl/internal/panics"
	"agentctl/protocol/codec"
)

func TestMain(m *testing.M) {
	thorough.Checks(30, 100)
	memory.Use()
	goleak.VerifyTestMain(m)
}

// An echo codec passes every message to the other side. The message "bye" closes the connection.
type echo struct{}

func (echo) Open(time.Time) codec.Output { return codec.Output{} }

func (echo) Native(_ time.Time, line []byte) codec.Output {
	return codec.Output{Foreign: []codec.Frame{{Data: bytes.Clone(line)}}}
}

func (echo) Foreign(_ time.Time, f codec.Frame) codec.Output {
	out := codec.Output{Native: [][]byte{f.Data}}
	if string(f.Data) == "bye" {
		out.Foreign = []codec.Frame{{Data: []byte("last words")}}
		out.Close = &codec.Close{Code: 4000, Reason: "as it wanted"}
	}
	return out
}

func (echo) Wake(time.Time) codec.Output { return codec.Output{} }

// newTestConn returns a Conn on an unbuffered connection, and its peer.
func newTestConn(t *testing.T) (*Conn, *websocket.Conn) {
	t.Helper()
	return newTestConnWith(t, echo{}, nil)
}

func newTestConnWith(t *testing.T, codec codec.Codec, get ReadFunc) (*Conn, *websocket.Conn) {
	t.Helper()
	return newTestConnMade(t, func(ws *websocket.Conn) *Conn { return NewClientConn(ws, "", codec, 1<<20, get) })
}

func newTestConnMade(t *testing.T, newConn func(*websocket.Conn) *Conn) (*Conn, *websocket.Conn) {
	t.Helper()
	client, server := net.Pipe()
	conns := make(chan net.Conn, 1)
	conns <- server
	made := make(chan *Conn, 1)
	h := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		made <- newConn(ws)
	})}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = h.Serve(chanListener{conns})
	}()
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return client, nil },
	}
	peer, _, err := websocket.Dial(
		t.Context(), "ws://peer", &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}},
	)
	if err != nil {
		t.Fatal(err)
	}
	peer.SetReadLimit(-1)
	c := <-made
	t.Cleanup(func() {
		_ = c.CloseNow()
		_ = peer.CloseNow()
		close(conns)
		<-served
		_ = h.Close()
	})
	return c, peer
}

// A chanListener accepts the connections of a channel.
type chanListener struct{ conns chan net.Conn }

func (l chanListener) Accept() (net.Conn, error) {
	if c, ok := <-l.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (chanListener) Close() error   { return nil }
func (chanListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// A panicking codec panics on every foreign message.
type panicking struct{ echo }

func (panicking) Foreign(time.Time, codec.Frame) codec.Output { panic("too much") }

func TestAPanicOfACodecEndsOurClientsConnection(t *testing.T) {
	c, peer := newTestConnWith(t, panicking{}, nil)
	if err := peer.Write(t.Context(), websocket.MessageText, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	_, err := c.Read(t.Context())
	if broken := panics.As(err); broken == nil || broken.Value != "too much" ||
		!strings.Contains(string(broken.Stack), "panicking") {
		t.Errorf("reading ended with %v", err)
	}
}

func TestAPeerThatDoesNotReadIsHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peer := newTestConn(t)
		line := []byte(strings.Repeat("x", maxNativeQueue) + "\n")
		wrote := make(chan error, 1)
		go func() { wrote <- c.Write(t.Context(), bytes.Repeat(line, 4)) }()
		synctest.Wait() // it waits for the peer's close
		if err := peer.Write(t.Context(), websocket.MessageText, []byte("hello")); err != nil {
			t.Fatal(err)
		}
		if got, err := c.Read(t.Context()); string(got) != "hello\n" || err != nil {
			t.Fatalf("%q %v", got, err)
		}
		select {
		case err := <-wrote:
			t.Fatalf("all was written to a peer that does not read: %v", err)
		default:
		}
		for range 4 {
			if _, got, err := peer.Read(t.Context()); err != nil || len(got) != maxNativeQueue {
				t.Fatalf("%d bytes, %v", len(got), err)
			}
		}
		if err := <-wrote; err != nil {
			t.Error(err)
		}
	})
}

func TestAWriteEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newTestConn(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		line := []byte(strings.Repeat("x", maxNativeQueue) + "\n")
		if err := c.Write(ctx, bytes.Repeat(line, 4)); err == nil || ctx.Err() == nil {
			t.Errorf("%v", err)
		}
	})
}

func TestLastWordsComeBeforeTheClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peer := newTestConn(t)
		if err := peer.Write(t.Context(), websocket.MessageText, []byte("bye")); err != nil {
			t.Fatal(err)
		}
		if got, err := c.Read(t.Context()); string(got) != "bye\n" || err != nil {
			t.Fatalf("%q %v", got, err)
		}
		if _, err := c.Read(t.Context()); websocket.CloseStatus(err) != 4000 {
			t.Fatalf("%v", err)
		}
		closed := make(chan error, 1)
		go func() { closed <- c.Close(websocket.StatusNormalClosure, "") }()
		if _, got, err := peer.Read(t.Context()); string(got) != "last words" || err != nil {
			t.Errorf("%q %v", got, err)
		}
		if _, _, err := peer.Read(t.Context()); websocket.CloseStatus(err) != 4000 {
			t.Errorf("%v", err)
		}
		<-closed
	})
}

// A host gets the lines of Read, Write and Wake, then the close of the codec.
func TestAHostTakesLinesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peer := newTestConnMade(t, func(ws *websocket.Conn) *Conn { return NewServerConn(ws, twoWay{}, 1<<20) })
		h := make(recordingHost, 100)
		c.SetHost(h)
		if err := c.Write(t.Context(), []byte("one\ntwo\n")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // no Read is needed
		for _, want := range []string{"again one", "again two"} {
			if got := <-h; got != want {
				t.Errorf("handled %q, want %q", got, want)
			}
		}
		go func() { _ = peer.Write(context.Background(), websocket.MessageText, []byte("bye")) }()
		if lines, err := c.Read(t.Context()); lines != nil || err != nil {
			t.Errorf("read %q, %v", lines, err)
		}
		for _, want := range []string{"bye", "4000 as it wanted"} {
			if got := <-h; got != want {
				t.Errorf("handled %q, want %q", got, want)
			}
		}
		closed := make(chan error, 1)
		go func() { closed <- c.Close(websocket.StatusNormalClosure, "") }()
		for {
			if _, _, err := peer.Read(t.Context()); err != nil {
				break
			}
		}
		<-closed
	})
}

// A twoWay codec also passes native messages back.
type twoWay struct{ echo }

func (twoWay) Native(_ time.Time, line []byte) codec.Output {
	return codec.Output{Foreign: []codec.Frame{{Data: bytes.Clone(line)}}, Native: [][]byte{append([]byte("again "), line...)}}
}

// A recordingHost gets what a Conn passes to its host.
type recordingHost chan string

func (h recordingHost) Handle(line []byte) bool {
	h <- strings.TrimSpace(string(line))
	return true
}

func (h recordingHost) End(code websocket.StatusCode, reason string) {
	h <- strconv.Itoa(int(code)) + " " + reason
}

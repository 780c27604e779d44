package screen

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/tui/plain"
	"agentctl/wsclient"
)

// A textBuffer keeps what is written and lets the test wait for text.
type textBuffer struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{}
}

func newTextBuffer() *textBuffer { return &textBuffer{changed: make(chan struct{}, 1)} }

func (b *textBuffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case b.changed <- struct{}{}:
	default:
	}
	return b.text.Write(text)
}

func (b *textBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func (b *textBuffer) wait(t *testing.T, want string) {
	t.Helper()
	timeout := time.After(time.Minute)
	for !strings.Contains(b.String(), want) {
		select {
		case <-b.changed:
		case <-timeout:
			t.Fatalf("no %q in:\n%s", want, b)
		}
	}
}

// A failingConn closes and fails at the first read after its failure is set.
type failingConn struct {
	net.Conn
	failure *readFailure
}

type readFailure struct {
	mu sync.Mutex
	on bool
}

func (d *readFailure) set(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.on = on
}

func (c failingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.failure.mu.Lock()
	defer c.failure.mu.Unlock()
	if err == nil && c.failure.on {
		c.Close()
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

func TestALineIsSentOnceWhenItsAnswerIsLost(t *testing.T) {
	t.Parallel()
	const agent = `{"on":"*"}` + "\n" + `{"say":"received {message}"}`
	dir := t.TempDir()
	dial, end := serveIn(t, dir, agent)
	defer func() { end() }()
	var mu sync.Mutex // of dial
	failure := &readFailure{}
	c := wsclient.New("ws://test", wsclient.Options{Name: "ann", Dial: func(ctx context.Context) (net.Conn, error) {
		mu.Lock()
		defer mu.Unlock()
		conn, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		return failingConn{conn, failure}, nil
	}})
	defer c.Close()
	v := create(t, c)
	out := newTextBuffer()
	keys, typing := io.Pipe()
	ctx, cancel := context.WithCancel(testContext(t))
	done := make(chan error, 1)
	go func() { done <- plain.Run(ctx, v, out, keys, plain.Options{}) }()
	out.wait(t, "now idle")

	failure.set(true)
	if _, err := io.WriteString(typing, "hello\n"); err != nil {
		t.Fatal(err)
	}
	out.wait(t, "reconnecting") // the message was sent; the server may have it
	mu.Lock()
	end()
	dial, end = serveIn(t, dir, agent)
	mu.Unlock()
	failure.set(false)
	out.wait(t, "turn ")
	if err := v.Do(ctx, protocol.DoSend, protocol.SendData{Text: "the next"}, nil); err != nil {
		t.Fatal(err)
	}
	out.wait(t, "received the next")
	cancel()
	_ = typing.Close() // never fails
	if err := <-done; err != nil {
		t.Error(err)
	}
	if n := strings.Count(out.String(), "ann: hello\n"); n != 1 {
		t.Errorf("the line is printed %d times:\n%s", n, out)
	}
}

package main

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
	"agentctl/tui"
	"agentctl/wsclient"
)

// A teletype takes what is told, and lets the test wait for words.
type teletype struct {
	mu      sync.Mutex
	told    bytes.Buffer
	changed chan struct{}
}

func newTeletype() *teletype { return &teletype{changed: make(chan struct{}, 1)} }

func (p *teletype) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case p.changed <- struct{}{}:
	default:
	}
	return p.told.Write(b)
}

func (p *teletype) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.told.String()
}

func (p *teletype) wait(t *testing.T, words string) {
	t.Helper()
	late := time.After(time.Minute)
	for !strings.Contains(p.String(), words) {
		select {
		case <-p.changed:
		case <-late:
			t.Fatalf("nobody tells %q:\n%s", words, p)
		}
	}
}

// A deafConn loses what the server says from some moment on, and with that its connection.
type deafConn struct {
	net.Conn
	deaf *deafness
}

type deafness struct {
	mu sync.Mutex
	on bool
}

func (d *deafness) set(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.on = on
}

func (c deafConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.deaf.mu.Lock()
	defer c.deaf.mu.Unlock()
	if err == nil && c.deaf.on {
		c.Close()
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

func TestALineWhoseAnswerIsLostWithTheServerIsTakenOnce(t *testing.T) {
	const agent = `{"on":"*"}` + "\n" + `{"say":"heard {message}"}`
	dir := t.TempDir()
	dial, end := serveIn(t, dir, agent)
	defer func() { end() }()
	var mu sync.Mutex // of dial
	deaf := &deafness{}
	c := wsclient.New("ws://test", wsclient.Options{Name: "ann", Dial: func(ctx context.Context) (net.Conn, error) {
		mu.Lock()
		defer mu.Unlock()
		conn, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		return deafConn{conn, deaf}, nil
	}})
	defer c.Close()
	v := create(t, c)
	out := newTeletype()
	keys, typing := io.Pipe()
	ctx, cancel := context.WithCancel(patient(t))
	ended := make(chan error, 1)
	go func() { ended <- tui.Plain(ctx, v, out, keys) }()
	out.wait(t, "now idle")

	deaf.set(true)
	if _, err := io.WriteString(typing, "hello\n"); err != nil {
		t.Fatal(err)
	}
	out.wait(t, "reconnecting") // it was sent, and taken or not
	mu.Lock()
	end()
	dial, end = serveIn(t, dir, agent)
	mu.Unlock()
	deaf.set(false)
	out.wait(t, "turn ")
	if err := v.Do(ctx, protocol.DoSend, protocol.SendData{Text: "the next"}, nil); err != nil {
		t.Fatal(err)
	}
	out.wait(t, "heard the next")
	cancel()
	_ = typing.Close() // never fails
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if n := strings.Count(out.String(), "ann: hello\n"); n != 1 {
		t.Errorf("the line is told %d times:\n%s", n, out)
	}
}

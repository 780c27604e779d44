package wsclient

import (
	"bytes"
	"context"
	"io"
	"sync/atomic"

	"github.com/coder/websocket"

	"agentctl/dialect"
	"agentctl/protocol"
)

// A transport carries native messages, which are lines of JSON: directly over a WebSocket, or
// translated by a dialect. One goroutine may read while another writes.
type transport interface {
	// Read returns the next message. The caller may keep it.
	Read(ctx context.Context) ([]byte, error)
	Write(ctx context.Context, message []byte) error
	Close(code websocket.StatusCode, reason string) error
	CloseNow() error

	// Received returns the number of bytes received, incomplete messages included. Safe for
	// concurrent use.
	Received() int64
}

var (
	_ transport = (*nativeTransport)(nil)
	_ transport = (*dialect.Conn)(nil)
)

// nativeTransport carries the native protocol.
type nativeTransport struct {
	*websocket.Conn
	observer *frameObserver
	buffer   bytes.Buffer // owned by Read
	received atomic.Int64
}

func (t *nativeTransport) Read(ctx context.Context) ([]byte, error) {
	_, r, err := t.Reader(ctx)
	if err != nil {
		return nil, err
	}
	t.buffer.Reset()
	if _, err := t.buffer.ReadFrom(countingReader{r, &t.received}); err != nil {
		return nil, err
	}
	message := bytes.Clone(t.buffer.Bytes())
	if t.buffer.Cap() > protocol.MaxMessage {
		t.buffer = bytes.Buffer{}
	}
	t.observer.record(Frame{Data: message})
	return message, nil
}

func (t *nativeTransport) Write(ctx context.Context, message []byte) error {
	t.observer.record(Frame{Sent: true, Data: message})
	return t.Conn.Write(ctx, websocket.MessageText, message)
}

func (t *nativeTransport) Received() int64 { return t.received.Load() }

// countingReader adds the number of bytes read to count.
type countingReader struct {
	io.Reader
	count *atomic.Int64
}

func (r countingReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	r.count.Add(int64(n))
	return n, err
}

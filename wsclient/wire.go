package wsclient

import (
	"bytes"
	"context"
	"io"
	"sync/atomic"

	"agentctl/protocol/codec"

	"github.com/coder/websocket"

	"agentctl/dialect"
	"agentctl/protocol"
)

// A wire carries native messages, lines of JSON: over a WebSocket as they are, or by way of a dialect.
type wire interface {
	// Read returns the next message; the caller may keep it.
	Read(ctx context.Context) ([]byte, error)
	Write(ctx context.Context, message []byte) error
	Close(code websocket.StatusCode, reason string) error
	CloseNow() error

	// Received is how many bytes came, of a message that is still coming too. Any goroutine may ask.
	Received() int64
}

var (
	_ wire = (*native)(nil)
	_ wire = (*dialect.Conn)(nil)
)

// native is the wire of the native protocol.
type native struct {
	*websocket.Conn
	tap      *tap
	message  bytes.Buffer
	received atomic.Int64
}

func (n *native) Read(ctx context.Context) ([]byte, error) {
	_, r, err := n.Reader(ctx)
	if err != nil {
		return nil, err
	}
	n.message.Reset()
	if _, err := n.message.ReadFrom(progress{r, &n.received}); err != nil {
		return nil, err
	}
	message := bytes.Clone(n.message.Bytes())
	if n.message.Cap() > protocol.MaxMessage {
		n.message = bytes.Buffer{}
	}
	n.tap.frame(false, codec.Frame{Data: message})
	return message, nil
}

func (n *native) Write(ctx context.Context, message []byte) error {
	n.tap.frame(true, codec.Frame{Data: message})
	return n.Conn.Write(ctx, websocket.MessageText, message)
}

func (n *native) Received() int64 { return n.received.Load() }

// progress counts what is read.
type progress struct {
	io.Reader
	bytes *atomic.Int64
}

func (p progress) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	p.bytes.Add(int64(n))
	return n, err
}

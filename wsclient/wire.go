package wsclient

import (
	"context"

	"github.com/coder/websocket"

	"agentctl/dialect"
)

// A wire carries native messages, lines of JSON: over a WebSocket as they are, or by way of a dialect.
type wire interface {
	// Read returns the next message; the caller may keep it.
	Read(ctx context.Context) ([]byte, error)
	Write(ctx context.Context, message []byte) error
	Close(code websocket.StatusCode, reason string) error
	CloseNow() error
}

var (
	_ wire = native{}
	_ wire = (*dialect.Conn)(nil)
)

// native is the wire of the native protocol.
type native struct{ *websocket.Conn }

func (n native) Read(ctx context.Context) ([]byte, error) {
	_, message, err := n.Conn.Read(ctx)
	return message, err
}

func (n native) Write(ctx context.Context, message []byte) error {
	return n.Conn.Write(ctx, websocket.MessageText, message)
}

package server

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/coder/websocket"

	"agentctl/dialect"
	"agentctl/protocol"
)

// A wire carries native messages, lines of JSON: over a WebSocket as they are, or by way of a dialect.
type wire interface {
	// Read returns the next message of the client. An error of the protocol's is for the client and ends nothing, unless
	// it is too_large; any other one ends the connection.
	Read(ctx context.Context) ([]byte, error)
	Write(ctx context.Context, message []byte) error
	Ping(ctx context.Context) error
	Close(code websocket.StatusCode, reason string) error
	CloseNow() error
}

var (
	_ wire = (*native)(nil)
	_ wire = (*dialect.Conn)(nil)
)

// native is the wire of the native protocol.
type native struct {
	*websocket.Conn
	limit int64 // bytes of one message
}

func (n *native) Read(ctx context.Context) ([]byte, error) {
	kind, r, err := n.Reader(ctx)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(r, n.limit+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(b)) > n.limit:
		return nil, &protocol.Error{
			Code: protocol.CodeTooLarge, Limit: n.limit, Message: fmt.Sprintf("a message holds at most %d bytes", n.limit),
		}
	case kind != websocket.MessageText:
		return nil, protocol.Errorf(protocol.CodeInvalidJSON, "not a text message")
	}
	return b, nil
}

func (n *native) Write(ctx context.Context, message []byte) error {
	return n.Conn.Write(ctx, websocket.MessageText, message)
}

// refusal returns the error of err that is for the client, or nil.
func refusal(err error) *protocol.Error {
	var e *protocol.Error
	errors.As(err, &e)
	return e
}

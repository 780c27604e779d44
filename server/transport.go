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

// A transport carries native messages, lines of JSON: on a WebSocket directly, or through a
// dialect.
type transport interface {
	// Read returns the next message of the client. A protocol error is sent to the client and the
	// connection lives on, unless its code is too_large; any other error ends the connection.
	Read(ctx context.Context) ([]byte, error)
	Write(ctx context.Context, message []byte) error
	Ping(ctx context.Context) error
	Close(code websocket.StatusCode, reason string) error
	CloseNow() error
}

var (
	_ transport = (*nativeTransport)(nil)
	_ transport = (*dialect.Conn)(nil)
)

// nativeTransport is the transport of the native protocol.
type nativeTransport struct {
	*websocket.Conn
	limit int64 // bytes of one message
}

// Read implements transport.
func (n *nativeTransport) Read(ctx context.Context) ([]byte, error) {
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
			Code:    protocol.CodeTooLarge,
			Limit:   n.limit,
			Message: fmt.Sprintf("a message holds at most %d bytes", n.limit),
		}
	case kind != websocket.MessageText:
		return nil, protocol.Errorf(protocol.CodeInvalidJSON, "not a text message")
	}
	return b, nil
}

// Write implements transport.
func (n *nativeTransport) Write(ctx context.Context, message []byte) error {
	return n.Conn.Write(ctx, websocket.MessageText, message)
}

// clientError returns the protocol error in err, or nil.
func clientError(err error) *protocol.Error {
	var e *protocol.Error
	errors.As(err, &e)
	return e
}

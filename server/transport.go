package server

import (
	"bytes"
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
	// Name returns the name of the protocol.
	Name() string

	// Read returns the next message of the client. A protocol error is sent to the client and the
	// connection lives on, unless its code is too_large; any other error ends the connection. The
	// message is valid until the next call.
	Read(ctx context.Context) ([]byte, error)
	Write(ctx context.Context, message []byte) error
	Ping(ctx context.Context) error
	Close(code websocket.StatusCode, reason string) error
	CloseNow() error
}

var (
	_ transport = (*nativeTransport)(nil)
	_ transport = dialectTransport{}
)

// nativeTransport is the transport of the native protocol.
type nativeTransport struct {
	*websocket.Conn
	frames *frameSocket // below Conn
	limit  int64        // bytes of one message
	short  [128]byte    // a message that fits, such as an ack
}

// nativeName is the name of the native protocol among the names of dialects.
const nativeName = "native"

// Name implements transport.
func (n *nativeTransport) Name() string { return nativeName }

// Read implements transport.
func (n *nativeTransport) Read(ctx context.Context) ([]byte, error) {
	kind, r, err := n.Reader(ctx)
	if err != nil {
		return nil, err
	}
	b, err := n.readAll(r)
	switch {
	case err != nil:
		return nil, err
	case int64(len(b)) > n.limit:
		return nil, protocol.Exceeded(protocol.CodeTooLarge, n.limit,
			fmt.Sprintf("a message holds at most %d bytes", n.limit))
	case kind != websocket.MessageText:
		return nil, protocol.Errorf(protocol.CodeInvalidJSON, "not a text message")
	}
	return b, nil
}

// readAll reads a message, and one byte more than the limit of a message that is too large.
func (n *nativeTransport) readAll(r io.Reader) ([]byte, error) {
	size := 0
	for size < len(n.short) {
		more, err := r.Read(n.short[size:])
		size += more
		if errors.Is(err, io.EOF) {
			return n.short[:size], nil
		}
		if err != nil {
			return nil, err
		}
	}
	rest, err := io.ReadAll(io.LimitReader(r, n.limit+1-int64(size)))
	return append(bytes.Clone(n.short[:]), rest...), err
}

// Write implements transport.
func (n *nativeTransport) Write(_ context.Context, message []byte) error {
	return n.frames.writeText(message)
}

// A dialectTransport is the transport of a dialect.
type dialectTransport struct {
	*dialect.Conn
	name string
}

// Name implements transport.
func (d dialectTransport) Name() string { return d.name }

// A textSocket is the WebSocket of a dialect that has only text messages, which it writes as the native
// protocol does.
type textSocket struct {
	*websocket.Conn
	frames *frameSocket // below Conn
}

// Write implements dialect.Socket.
func (s textSocket) Write(_ context.Context, _ websocket.MessageType, message []byte) error {
	return s.frames.writeText(message)
}

// A dialectHost takes the native lines of a dialect for a connection.
type dialectHost struct{ *conn }

var _ dialect.Host = dialectHost{}

// Handle implements dialect.Host.
func (h dialectHost) Handle(line []byte) bool { return h.handle(line) }

// End implements dialect.Host.
func (h dialectHost) End(code websocket.StatusCode, reason string) { h.close(code, reason) }

// clientError returns the protocol error in err, or nil.
func clientError(err error) *protocol.Error {
	if err == nil {
		return nil // without an allocation, for every read
	}
	var e *protocol.Error
	errors.As(err, &e)
	return e
}

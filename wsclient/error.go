package wsclient

import (
	"errors"
	"fmt"

	"agentctl/protocol"
)

// ErrClosed ends everything that waits on a client when the client is closed.
var ErrClosed = errors.New("the client is closed")

// ErrReplaced ends a subscription when a newer one of the same client attaches to its session.
var ErrReplaced = errors.New("replaced by a newer subscription to the session")

// ErrEphemeral refuses a one-shot client: sessions of the server end with their connection.
var ErrEphemeral = errors.New("sessions of the server end with their connection")

// CodeUntrusted is the code of a ConnectError about a certificate that is not trusted.
const CodeUntrusted protocol.Code = "untrusted"

// A ConnectError reports why a connection was not established.
type ConnectError struct {
	URL    string        // without credentials
	Status int           // HTTP status; 0 if there was no HTTP response
	Code   protocol.Code // empty if unknown

	// PeerProtocol is the protocol of agentctl's server if it differs from the client's:
	// protocol.Subprotocol or the name of a dialect. Code is then unsupported.
	PeerProtocol string
	Err          error
}

func (e *ConnectError) Error() string { return fmt.Sprintf("connect to %s: %v", e.URL, e.Err) }
func (e *ConnectError) Unwrap() error { return e.Err }

// Refused reports whether another attempt is pointless: the code is unauthorized (HTTP 401 or close
// code 1008), forbidden (HTTP 403), unsupported, untrusted, or too_large for a message of the
// server. A client goes offline on such an error.
func (e *ConnectError) Refused() bool {
	switch e.Code {
	case protocol.CodeUnauthorized, protocol.CodeForbidden, protocol.CodeUnsupported, protocol.CodeTooLarge,
		CodeUntrusted:
		return true
	}
	return false
}

// A SendError reports why a command has no answer. The server may have executed the command.
// Sending it again with the same key is safe.
type SendError struct {
	Command protocol.Verb
	Key     string // of the command; may be empty

	// Err is the context's error, ErrClosed, ErrWithdrawn, a *panics.Error, a *ConnectError or, if
	// the command was never sent, a *protocol.Error.
	Err error
}

func (e *SendError) Error() string { return fmt.Sprintf("%s: %v", e.Command, e.Err) }
func (e *SendError) Unwrap() error { return e.Err }

// An EncodeError reports data that cannot be encoded. Nothing was sent.
type EncodeError struct {
	Command protocol.Verb
	Data    any // as passed by the caller
	Err     error
}

func (e *EncodeError) Error() string { return fmt.Sprintf("%s: encode: %v", e.Command, e.Err) }
func (e *EncodeError) Unwrap() error { return e.Err }

// A DecodeError reports a message or result that cannot be decoded.
type DecodeError struct {
	Bytes []byte // the first bytes of it, at most 512
	Err   error
}

func newDecodeError(b []byte, err error) *DecodeError {
	return &DecodeError{Bytes: append([]byte(nil), b[:min(len(b), 512)]...), Err: err}
}

func (e *DecodeError) Error() string { return fmt.Sprintf("decode %.80q: %v", e.Bytes, e.Err) }
func (e *DecodeError) Unwrap() error { return e.Err }

// A GapError reports that the server skipped events of a session twice in a row at the same place.
type GapError struct {
	Session string
	After   uint64 // seq of the last event before the gap
	First   uint64 // first seq after the gap
}

func (e *GapError) Error() string {
	return fmt.Sprintf("missing events of session %s: got %d after %d", e.Session, e.First, e.After)
}

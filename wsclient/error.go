package wsclient

import (
	"errors"
	"fmt"

	"agentctl/protocol"
)

// ErrClosed is the end of everything that waits on a client when it is closed.
var ErrClosed = errors.New("the client is closed")

// ErrReplaced ends a subscription when a newer one of the same client follows the same session.
var ErrReplaced = errors.New("the session is followed by a newer subscription")

// A ConnectError says why there is no connection.
type ConnectError struct {
	URL          string        // without credentials
	Status       int           // of the HTTP answer; 0 when there was none
	Code         protocol.Code // unauthorized and forbidden are final: HTTP 401, 403, close code 1008; empty when unknown
	PeerProtocol string        // what a server of ours speaks there, where that is something else: protocol.Subprotocol or a dialect; its code is unsupported
	Err          error
}

func (e *ConnectError) Error() string { return fmt.Sprintf("connect to %s: %v", e.URL, e.Err) }
func (e *ConnectError) Unwrap() error { return e.Err }

// Refused reports whether trying again as things are is pointless: the server will not have this client.
func (e *ConnectError) Refused() bool {
	switch e.Code {
	case protocol.CodeUnauthorized, protocol.CodeForbidden, protocol.CodeUnsupported:
		return true
	}
	return false
}

// A SendError says why a command has no answer. Whether it was carried out is not known; sent again with the same key, it
// cannot happen twice.
type SendError struct {
	Command protocol.Verb
	Key     string // that it was sent with, if any
	Err     error  // the context's, ErrClosed, ErrWithdrawn, a *rescue.Error, a *ConnectError or, when it was never sent, a *protocol.Error
}

func (e *SendError) Error() string { return fmt.Sprintf("%s: %v", e.Command, e.Err) }
func (e *SendError) Unwrap() error { return e.Err }

// An EncodeError says what could not be said: nothing was sent.
type EncodeError struct {
	Command protocol.Verb
	Data    any // as it was given
	Err     error
}

func (e *EncodeError) Error() string { return fmt.Sprintf("%s: encode: %v", e.Command, e.Err) }
func (e *EncodeError) Unwrap() error { return e.Err }

// A DecodeError says what could not be read.
type DecodeError struct {
	Bytes []byte // its beginning, at most 512 bytes
	Err   error
}

func newDecodeError(b []byte, err error) *DecodeError {
	return &DecodeError{Bytes: append([]byte(nil), b[:min(len(b), 512)]...), Err: err}
}

func (e *DecodeError) Error() string { return fmt.Sprintf("decode %.80q: %v", e.Bytes, e.Err) }
func (e *DecodeError) Unwrap() error { return e.Err }

// A GapError says that the server left out events of a session, twice in a row.
type GapError struct {
	Session string
	After   uint64 // the last event taken in
	First   uint64 // what came instead of the next
}

func (e *GapError) Error() string {
	return fmt.Sprintf("events of %s after %d: the server sent %d", e.Session, e.After, e.First)
}

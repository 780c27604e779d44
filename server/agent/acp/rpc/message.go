package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// CodeMethodNotFound is the JSON-RPC error code for an unknown method.
const CodeMethodNotFound = -32601

// CodeInvalidParams is the JSON-RPC error code for parameters that a method does not take.
const CodeInvalidParams = -32602

// Error is an error response of the peer.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *Error) Error() string { return fmt.Sprintf("%s (code %d)", e.Message, e.Code) }

// message is a request, notification or response of the peer.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// outgoing is a request, notification or response to the peer.
type outgoing struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

var errNotRPC = errors.New("not a JSON-RPC message")

// decode decodes one line. It accepts a missing version, unknown fields and invalid UTF-8, which
// becomes U+FFFD. The result is valid UTF-8.
func decode(line []byte) (message, error) {
	if !utf8.Valid(line) {
		line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
	}
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		return message{}, fmt.Errorf("%w: %v", errNotRPC, err)
	}
	if string(m.ID) == "null" {
		m.ID = nil
	}
	if m.Method == "" && m.ID == nil {
		return message{}, errNotRPC
	}
	return m, nil
}

// unpack returns the result of a response, or its error. A malformed error becomes an *Error with
// its JSON as the message.
func (m message) unpack() (json.RawMessage, error) {
	if m.Error == nil || string(m.Error) == "null" {
		return m.Result, nil
	}
	e := &Error{}
	if err := json.Unmarshal(m.Error, e); err != nil || e.Message == "" {
		e.Message = string(m.Error)
	}
	return nil, e
}

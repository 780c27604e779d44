package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// CodeMethodNotFound is JSON-RPC's error code for a method that the peer does not have.
const CodeMethodNotFound = -32601

// Error is an error answer of the peer.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *Error) Error() string { return fmt.Sprintf("%s (code %d)", e.Message, e.Code) }

// message is any JSON-RPC message.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

var errNotRPC = errors.New("not a JSON-RPC message")

// decode reads one line. It is tolerant: a missing version, unknown fields and bad UTF-8 (which becomes U+FFFD) are
// accepted; what is left is valid UTF-8 throughout.
func decode(line []byte) (message, error) {
	if !utf8.Valid(line) {
		line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
	}
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		return message{}, fmt.Errorf("%w: %v", errNotRPC, err)
	}
	if bytes.Equal(m.ID, null) {
		m.ID = nil
	}
	if m.Method == "" && m.ID == nil {
		return message{}, errNotRPC
	}
	return m, nil
}

var null = []byte("null")

// unpack is what an answer says: its result, or its error even where that is no proper one.
func (m message) unpack() (json.RawMessage, error) {
	if m.Error == nil || bytes.Equal(m.Error, null) {
		return m.Result, nil
	}
	e := &Error{}
	if err := json.Unmarshal(m.Error, e); err != nil || e.Message == "" {
		e.Message = string(m.Error)
	}
	return nil, e
}

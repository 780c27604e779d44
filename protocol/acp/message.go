package acp

import (
	"encoding/json"

	"agentctl/protocol"
)

// An object is JSON that is sent.
type object = map[string]any

// An rpcMessage is a message of JSON-RPC 2.0: a request has an id and a method, a notification only a
// method, an answer only an id.
type rpcMessage struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

// A received is a message of the client.
type received struct {
	ID     json.RawMessage `json:"id"`
	Method *string         `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// An rpcError is the error of an answer. Data has the error of agentctl.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    object `json:"data,omitempty"`
}

// Error codes of the protocol.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeUnknownMethod  = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
	codeAuthRequired   = -32000
	codeNotFound       = -32002
)

// errorOf returns an error of agentctl as an error of the protocol.
func errorOf(e *protocol.Error) *rpcError {
	code := codeInternal
	switch e.Code {
	case protocol.CodeAgentAuth:
		code = codeAuthRequired
	case protocol.CodeNoSession:
		code = codeNotFound
	case protocol.CodeUnknownCommand:
		code = codeUnknownMethod
	case protocol.CodeInvalidMessage, protocol.CodeNoAgent, protocol.CodeTooLarge, protocol.CodeAmbiguous:
		code = codeInvalidParams
	}
	data := object{"code": e.Code}
	if e.Limit != 0 {
		data["limit"] = e.Limit
	}
	return &rpcError{Code: code, Message: e.Message, Data: data}
}

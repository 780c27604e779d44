package client

import (
	"agentctl/protocol"
	"agentctl/protocol/multiagent/wire"
)

// nativeError converts an error of the protocol. missing is the code for not_found.
func nativeError(code, message string, missing protocol.Code) *protocol.Error {
	if message == "" {
		message = "the server gave no reason"
	}
	e := &protocol.Error{Code: protocol.CodeAgentFailed, Message: message}
	switch code {
	case wire.CodeBadRequest:
		e.Code = protocol.CodeInvalidMessage
	case wire.CodeForbidden:
		e.Code = protocol.CodeForbidden
	case wire.CodeNotFound:
		e.Code = missing
	case wire.CodeNotConfigured:
		e.Code = protocol.CodeNoAgent
	}
	return e
}

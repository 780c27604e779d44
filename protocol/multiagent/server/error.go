package server

import (
	"agentctl/protocol"
	"agentctl/protocol/multiagent/wire"
)

// foreignCode converts a native error code. rest is the result for a code without an equivalent.
func foreignCode(code protocol.Code, rest string) string {
	switch code {
	case protocol.CodeNoSession, protocol.CodeAmbiguous, protocol.CodeNotFound, protocol.CodeNotSubscribed:
		return wire.CodeNotFound
	case protocol.CodeForbidden, protocol.CodeUnauthorized:
		return wire.CodeForbidden
	case protocol.CodeNoAgent, protocol.CodeAgentAuth, protocol.CodeUnsupported:
		return wire.CodeNotConfigured
	case protocol.CodeInvalidJSON, protocol.CodeInvalidMessage, protocol.CodeTooLarge, protocol.CodeTooMany,
		protocol.CodeQueueFull, protocol.CodeSessionClosed:
		return wire.CodeBadRequest
	}
	return rest
}

package multiagent

import "agentctl/protocol"

// Error codes.
const (
	badRequest    = "bad_request"
	forbidden     = "forbidden"
	notFound      = "not_found"
	notConfigured = "not_configured"
	streamError   = "stream_error"
	cancelled     = "cancelled"
	requestFailed = "tool_request_failed"
	executeFailed = "tool_execute_failed"

	// Codes of the real system that its document omits.
	rejected     = "rejected"
	rejectFailed = "tool_reject_failed"
)

type errorPayload struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// errorFrame returns an error. One without a code has no payload: the real system reports an
// unknown type this way.
func errorFrame(conversation, code, message string) frame {
	if code == "" {
		return frame{Type: typeError, Conversation: conversation, Error: message}
	}
	return frame{Type: typeError, Conversation: conversation, Error: message, Payload: errorPayload{code, message}}
}

// foreignCode converts a native error code. rest is the result for a code without an equivalent.
func foreignCode(code protocol.Code, rest string) string {
	switch code {
	case protocol.CodeNoSession, protocol.CodeAmbiguous, protocol.CodeNotFound, protocol.CodeNotSubscribed:
		return notFound
	case protocol.CodeForbidden, protocol.CodeUnauthorized:
		return forbidden
	case protocol.CodeNoAgent, protocol.CodeAgentAuth, protocol.CodeUnsupported:
		return notConfigured
	case protocol.CodeInvalidJSON, protocol.CodeInvalidMessage, protocol.CodeTooLarge, protocol.CodeTooMany,
		protocol.CodeQueueFull, protocol.CodeSessionClosed:
		return badRequest
	}
	return rest
}

// nativeError converts an error of the protocol. missing is the code for not_found.
func nativeError(code, message string, missing protocol.Code) *protocol.Error {
	if message == "" {
		message = "the server gave no reason"
	}
	e := &protocol.Error{Code: protocol.CodeAgentFailed, Message: message}
	switch code {
	case badRequest:
		e.Code = protocol.CodeInvalidMessage
	case forbidden:
		e.Code = protocol.CodeForbidden
	case notFound:
		e.Code = missing
	case notConfigured:
		e.Code = protocol.CodeNoAgent
	}
	return e
}

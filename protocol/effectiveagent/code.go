package effectiveagent

import "agentctl/protocol"

// A code is one of the protocol's error codes.
type code string

// The nine codes.
const (
	unknownError        code = "UNKNOWN_ERROR"
	parseError          code = "PARSE_ERROR"
	validationError     code = "VALIDATION_ERROR"
	sendFailed          code = "AGENT_RUNTIME_SEND_FAILED"
	subscribeFailed     code = "AGENT_RUNTIME_SUBSCRIBE_FAILED"
	serializationError  code = "SERIALIZATION_ERROR"
	unauthorized        code = "UNAUTHORIZED"
	unknownMessageType  code = "UNKNOWN_MESSAGE_TYPE"
	internalServerError code = "INTERNAL_SERVER_ERROR"
)

// codeOf says a native error in the protocol's codes; refusal is the code of what was asked for.
func codeOf(c protocol.Code, refusal code) code {
	switch c {
	case protocol.CodeUnauthorized, protocol.CodeForbidden:
		return unauthorized
	case protocol.CodeInvalidJSON, protocol.CodeInvalidMessage, protocol.CodeUnknownCommand:
		return validationError
	case protocol.CodeInternal:
		return internalServerError
	}
	return refusal
}

// native says an error of the protocol in our codes. Details that are a native code are what the server meant.
func (c code) native(details string) protocol.Code {
	if isNativeCode(details) {
		return protocol.Code(details)
	}
	switch c {
	case parseError, serializationError:
		return protocol.CodeInvalidJSON
	case validationError:
		return protocol.CodeInvalidMessage
	case sendFailed:
		return protocol.CodeAgentFailed
	case subscribeFailed:
		return protocol.CodeNoSession
	case unauthorized:
		return protocol.CodeUnauthorized
	case unknownMessageType:
		return protocol.CodeUnsupported
	}
	return protocol.CodeInternal
}

// isNativeCode reports whether details are one of our codes: those of the real system are names of classes.
func isNativeCode(details string) bool {
	for _, r := range details {
		if r != '_' && (r < 'a' || r > 'z') {
			return false
		}
	}
	return details != "" && details != "error" && len(details) <= 40
}

package effectiveagent

import "agentctl/protocol"

// An errorCode is an error code of the protocol.
type errorCode string

// The nine codes.
const (
	unknownError        errorCode = "UNKNOWN_ERROR"
	parseError          errorCode = "PARSE_ERROR"
	validationError     errorCode = "VALIDATION_ERROR"
	sendFailed          errorCode = "AGENT_RUNTIME_SEND_FAILED"
	subscribeFailed     errorCode = "AGENT_RUNTIME_SUBSCRIBE_FAILED"
	serializationError  errorCode = "SERIALIZATION_ERROR"
	unauthorized        errorCode = "UNAUTHORIZED"
	unknownMessageType  errorCode = "UNKNOWN_MESSAGE_TYPE"
	internalServerError errorCode = "INTERNAL_SERVER_ERROR"
)

// encodeCode returns the code for a native error; refusal is the code of a refused request.
func encodeCode(c protocol.Code, refusal errorCode) errorCode {
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

// decode returns the native code. Details that are a native code take precedence.
func (c errorCode) decode(details string) protocol.Code {
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

// isNativeCode reports whether details have the form of a native code: the real system's are class
// names.
func isNativeCode(details string) bool {
	for _, r := range details {
		if r != '_' && (r < 'a' || r > 'z') {
			return false
		}
	}
	return details != "" && details != "error" && len(details) <= 40
}

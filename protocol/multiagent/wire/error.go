package wire

// Error codes.
const (
	CodeBadRequest    = "bad_request"
	CodeForbidden     = "forbidden"
	CodeNotFound      = "not_found"
	CodeNotConfigured = "not_configured"
	CodeStreamError   = "stream_error"
	CodeCancelled     = "cancelled"
	CodeRequestFailed = "tool_request_failed"
	CodeExecuteFailed = "tool_execute_failed"

	// Codes of the real system that its document omits.
	CodeRejected     = "rejected"
	CodeRejectFailed = "tool_reject_failed"
)

type errorPayload struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// NewError returns an error. One without a code has no payload: the real system reports an
// unknown type this way.
func NewError(conversation, code, message string) Frame {
	if code == "" {
		return Frame{Type: TypeError, Conversation: conversation, Error: message}
	}
	return Frame{Type: TypeError, Conversation: conversation, Error: message, Payload: errorPayload{code, message}}
}

package wire

// Typed errors of the real system.
const (
	SessionNotFound   = "ChatSessionNotFoundRpcError"
	OperationFailed   = "ChatOperationRpcError"
	ApprovalNotFound  = "ToolApprovalNotFoundRpcError"
	NoSessionDocument = "SESSION_NOT_FOUND"
)

// A TypedError is an error of the real system.
type TypedError struct {
	SessionID  string `json:"sessionId,omitempty"`
	ToolCallID string `json:"toolCallId,omitempty"`
	Message    string `json:"message,omitempty"`
	Code       string `json:"code,omitempty"`
	Tag        string `json:"_tag"`
}

package wire

import (
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// Message types.
const (
	TypePing             = "PING"
	TypePong             = "PONG"
	TypeStart            = "start_conversation"
	TypeStarted          = "conversation_started"
	TypeSend             = "send_message"
	TypeCancel           = "cancel_stream"
	TypeApprove          = "approve_tool"
	TypeChunk            = "message_chunk"
	TypeComplete         = "message_complete"
	TypeApprovalRequired = "tool_approval_required"
	TypeExecuted         = "tool_executed"
	TypeError            = "error"
	TypeSelected         = "agent_selected"
	TypeThought          = "workflow_thought"

	// TypeAnswer is agentctl's extension: the answer to a message with a note.
	TypeAnswer = "agentctl_answer"
)

// A Frame is an outgoing message.
type Frame struct {
	Type         string `json:"type"`
	Conversation string `json:"conversationId,omitempty"`
	Request      string `json:"requestId,omitempty"`
	Error        string `json:"error,omitempty"`
	Payload      any    `json:"payload,omitempty"`
	Note         *Note  `json:"agentctl,omitempty"`
}

// Encode returns the frame as it is sent.
func (f Frame) Encode() codec.Frame { return codec.Frame{Data: protocol.MustEncode(f)} }

// ConversationStarted is the payload of conversation_started.
type ConversationStarted struct {
	Conversation string `json:"conversationId"`
	Domain       string `json:"domainId"`
	Agent        string `json:"activeAgent"`
}

// StartPayload is the payload of start_conversation.
type StartPayload struct {
	Domain string `json:"domainId"`
}

// SendPayload is the payload of send_message.
type SendPayload struct {
	Content  string `json:"content"`
	Thinking bool   `json:"enableThinking,omitempty"`
}

// ApprovePayload is the payload of approve_tool.
type ApprovePayload struct {
	Approved bool   `json:"approved"`
	Reason   string `json:"reason,omitempty"`
}

// MessageChunk is the payload of message_chunk.
type MessageChunk struct {
	Message string `json:"messageId"`
	Chunk   string `json:"chunk"`
	Agent   string `json:"agentName"`
}

// MessageComplete is the payload of message_complete.
type MessageComplete struct {
	Message  string   `json:"messageId"`
	Content  string   `json:"content"`
	Agent    string   `json:"agentName"`
	Metadata Metadata `json:"metadata"`
}

// Metadata is the metadata of message_complete. Duration is in milliseconds.
type Metadata struct {
	Tokens   int64 `json:"tokenCount"`
	Duration int64 `json:"durationMs"`
}

// ApprovalRequest is the payload of tool_approval_required.
type ApprovalRequest struct {
	Request     string          `json:"requestId"`
	Tool        string          `json:"toolName"`
	Args        json.RawMessage `json:"toolArgs"`
	Description string          `json:"description"`
	Agent       string          `json:"agentName"`
}

// ToolExecuted is the payload of tool_executed.
type ToolExecuted struct {
	Request string          `json:"requestId"`
	Tool    string          `json:"toolName"`
	Result  json.RawMessage `json:"result"`
	Success bool            `json:"success"`
	Error   string          `json:"errorMessage,omitempty"`
}

// A PlainResult is the result of a tool without structured output.
type PlainResult struct {
	Output   string `json:"output,omitempty"`
	ExitCode *int   `json:"exitCode,omitempty"`
}

// QueueAgent is the agent name of a WorkflowThought that reports a queued message. The protocol has
// no message for it.
const QueueAgent = "queue"

// WorkflowThought is the payload of workflow_thought.
type WorkflowThought struct {
	ID           string `json:"agentId"`
	Agent        string `json:"agentName"`
	Conversation string `json:"conversationId"`
	Reason       string `json:"reason"`
}

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

// CancelledByDenial is the message of CodeCancelled for a turn that a denial ended.
const CancelledByDenial = "Stream cancelled: a tool was rejected"

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

// Bounds of a conversation, at both ends.
const (
	MaxOpenItems = 1024    // tools and approval requests of a turn
	MaxContent   = 4 << 20 // bytes of a message that message_complete repeats
)

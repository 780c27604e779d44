package wire

import (
	"encoding/json"
	"net/url"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// Types of messages.
const (
	UserInputType        = "user_input"
	ApprovalResponseType = "approval_response"
	GetContextType       = "get_context_info"
	CompactType          = "manual_compact"

	ResponseItemType     = "response_item"
	LoadingType          = "loading_state"
	ApprovalRequestType  = "approval_request"
	FinishedType         = "agent_finished"
	ContextInfoType      = "context_info"
	ContextCompactedType = "context_compacted"
	ErrorType            = "error"
)

// A Message is any message, in either direction.
type Message struct {
	ID      string          `json:"id"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// DecodeMessage decodes a frame. ok is false if it is not a message. A null payload is absent.
func DecodeMessage(f codec.Frame) (m Message, ok bool) {
	var raw struct {
		ID      *string         `json:"id"`
		Type    *string         `json:"type"`
		Payload json.RawMessage `json:"payload"`
	}
	if f.Binary || json.Unmarshal(f.Data, &raw) != nil || raw.ID == nil || raw.Type == nil {
		return m, false
	}
	if !codec.IsNull(raw.Payload) {
		m.Payload = raw.Payload
	}
	m.ID, m.Type = *raw.ID, *raw.Type
	return m, true
}

// EncodeMessage returns the frame of a message. payload may be nil.
func EncodeMessage(id, typ string, payload any) codec.Frame {
	m := Message{ID: id, Type: typ}
	if payload != nil {
		m.Payload = protocol.MustEncode(payload)
	}
	return codec.Frame{Data: protocol.MustEncode(m)}
}

// A UserInput is the payload of user_input.
type UserInput struct {
	Input    []json.RawMessage `json:"input"`
	Previous json.RawMessage   `json:"previousResponseId,omitempty"` // without meaning
}

// An ApprovalResponse is the payload of approval_response.
type ApprovalResponse struct {
	Review      string      `json:"review"`
	ApplyPatch  *ApplyPatch `json:"applyPatch,omitempty"`
	DenyMessage *string     `json:"customDenyMessage"`
	Explanation *string     `json:"explanation,omitempty"`
}

// An ApplyPatch is a change of files. ReadOnly is an extension of agentctl, ignored by other peers:
// the patch cannot be edited.
type ApplyPatch struct {
	Patch    string `json:"patch"`
	ReadOnly bool   `json:"readOnly,omitempty"`
}

// An ApprovalRequest is the payload of approval_request.
type ApprovalRequest struct {
	Command    []string    `json:"command"`
	ApplyPatch *ApplyPatch `json:"applyPatch,omitempty"`
}

// A LoadingState is the payload of loading_state.
type LoadingState struct {
	Loading bool `json:"loading"`
}

// An AgentFinished is the payload of agent_finished.
type AgentFinished struct {
	ResponseID string `json:"responseId"`
}

// A ContextInfo is the payload of context_info.
type ContextInfo struct {
	TokenCount       int64   `json:"tokenCount"`
	UsagePercent     float64 `json:"usagePercent"`
	TranscriptLength int     `json:"transcriptLength"`
	MaxTokens        int64   `json:"maxTokens"`
	Strategy         string  `json:"strategy"`
}

// A ContextCompacted is the payload of context_compacted.
type ContextCompacted struct {
	OldTokenCount    int64   `json:"oldTokenCount"`
	NewTokenCount    int64   `json:"newTokenCount"`
	ReductionPercent float64 `json:"reductionPercent"`
	Strategy         string  `json:"strategy"`
}

// An ErrorPayload is the payload of error.
type ErrorPayload struct {
	Message string          `json:"message"`
	Details json.RawMessage `json:"details,omitempty"`
}

// Error messages of the AgentLoop server.
const (
	NotInitialized   = "AgentLoop not initialized"
	InputFailed      = "Failed to process user input"
	InvalidFormat    = "Invalid message format"
	UnknownType      = "Unknown message type: "
	NothingPending   = "No pending approval request"
	contextFailed    = "Failed to get context info"
	CompactingFailed = "Failed to compact context"
	ApprovalFailed   = "Failed to process approval response"
)

// KnownCodes are the native codes that agentctl's server puts into details.
var KnownCodes = []protocol.Code{
	protocol.CodeNoSession, protocol.CodeSessionClosed, protocol.CodeForbidden, protocol.CodeUnsupported,
	protocol.CodeConflict, protocol.CodeNotFound, protocol.CodeTooLarge, protocol.CodeTooMany,
	protocol.CodeQueueFull, protocol.CodeNoAgent, protocol.CodeAgentAuth,
	protocol.CodeTimeout, protocol.CodeAgentFailed, protocol.CodeShuttingDown, protocol.CodeStorage,
	protocol.CodeServerRestart, protocol.CodeInvalidMessage, protocol.CodeCorrupt,
}

// Name is the dialect's name, and the name of the shared session of URLs that name none.
const Name = "agentloop"

// SessionOfPath returns the session of a URL's path: its last segment, or the shared session.
func SessionOfPath(path string) string {
	path = strings.TrimRight(path, "/")
	if name := protocol.ValidText(path[strings.LastIndexByte(path, '/')+1:]); name != "" {
		return name
	}
	return Name
}

// SessionOfURL returns the session that a URL names. The path of a Unix socket names none.
func SessionOfURL(address string) string {
	scheme, rest, _ := strings.Cut(address, "://")
	if end := strings.IndexAny(rest, "?#"); end >= 0 {
		rest = rest[:end]
	}
	at := strings.IndexByte(rest, '/')
	if scheme == "unix" || at < 0 {
		return Name
	}
	path := rest[at:]
	if unescaped, err := url.PathUnescape(path); err == nil {
		path = unescaped
	}
	return SessionOfPath(path)
}

package agentloop

import (
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// Types of messages.
const (
	userInputType        = "user_input"
	approvalResponseType = "approval_response"
	getContextType       = "get_context_info"
	compactType          = "manual_compact"

	responseItemType     = "response_item"
	loadingType          = "loading_state"
	approvalRequestType  = "approval_request"
	finishedType         = "agent_finished"
	contextInfoType      = "context_info"
	contextCompactedType = "context_compacted"
	errorType            = "error"
)

// A message is any message, in either direction.
type message struct {
	ID      string          `json:"id"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// decodeMessage decodes a frame. ok is false if it is no message. A null payload is absent.
func decodeMessage(f codec.Frame) (m message, ok bool) {
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

// encodeMessage returns the frame of a message. payload may be nil.
func encodeMessage(id, typ string, payload any) codec.Frame {
	m := message{ID: id, Type: typ}
	if payload != nil {
		m.Payload = protocol.MustEncode(payload)
	}
	return codec.Frame{Data: protocol.MustEncode(m)}
}

type userInput struct {
	Input    []json.RawMessage `json:"input"`
	Previous json.RawMessage   `json:"previousResponseId,omitempty"` // without meaning
}

type approvalResponse struct {
	Review      string      `json:"review"`
	ApplyPatch  *applyPatch `json:"applyPatch,omitempty"`
	DenyMessage *string     `json:"customDenyMessage"`
	Explanation *string     `json:"explanation,omitempty"`
}

// An applyPatch is a change of files. ReadOnly is an extension of agentctl, ignored by other peers:
// the patch cannot be edited.
type applyPatch struct {
	Patch    string `json:"patch"`
	ReadOnly bool   `json:"readOnly,omitempty"`
}

type approvalRequest struct {
	Command    []string    `json:"command"`
	ApplyPatch *applyPatch `json:"applyPatch,omitempty"`
}

type loadingState struct {
	Loading bool `json:"loading"`
}

type agentFinished struct {
	ResponseID string `json:"responseId"`
}

type contextInfo struct {
	TokenCount       int64   `json:"tokenCount"`
	UsagePercent     float64 `json:"usagePercent"`
	TranscriptLength int     `json:"transcriptLength"`
	MaxTokens        int64   `json:"maxTokens"`
	Strategy         string  `json:"strategy"`
}

type contextCompacted struct {
	OldTokenCount    int64   `json:"oldTokenCount"`
	NewTokenCount    int64   `json:"newTokenCount"`
	ReductionPercent float64 `json:"reductionPercent"`
	Strategy         string  `json:"strategy"`
}

type errorPayload struct {
	Message string          `json:"message"`
	Details json.RawMessage `json:"details,omitempty"`
}

// Error messages of the AgentLoop server.
const (
	notInitialized   = "AgentLoop not initialized"
	inputFailed      = "Failed to process user input"
	invalidFormat    = "Invalid message format"
	unknownType      = "Unknown message type: "
	nothingPending   = "No pending approval request"
	contextFailed    = "Failed to get context info"
	compactingFailed = "Failed to compact context"
	approvalFailed   = "Failed to process approval response"
)

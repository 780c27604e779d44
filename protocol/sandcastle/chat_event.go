package sandcastle

import (
	"encoding/json"
	"strings"

	"agentctl/protocol"
)

// Types of chat events. The first group is in the document.
const (
	chatStart           = "start"
	chatTextStart       = "text-start"
	chatTextDelta       = "text-delta"
	chatTextEnd         = "text-end"
	chatReasoningStart  = "reasoning-start"
	chatReasoningDelta  = "reasoning-delta"
	chatReasoningEnd    = "reasoning-end"
	chatToolInputStart  = "tool-input-start"
	chatToolInput       = "tool-input-available"
	chatToolOutput      = "tool-output-available"
	chatToolOutputError = "tool-output-error"
	chatFinish          = "finish"

	chatToolInputDelta  = "tool-input-delta"
	chatToolInputError  = "tool-input-error"
	chatToolDenied      = "tool-output-denied"
	chatApprovalRequest = "tool-approval-request"
	chatStartStep       = "start-step"
	chatFinishStep      = "finish-step"
	chatMetadata        = "metadata-update"
	chatError           = "error"
	chatModeChange      = "mode-change"
	chatRenamed         = "session-renamed"

	// chatNative carries a native event without an equivalent as a transient data part, which
	// reaches the data callback of clients but no message.
	chatNative = "data-agentctl"
)

// Reasons of finish.
const (
	finishStop   = "stop"
	finishError  = "error"
	finishLength = "length"
	finishFilter = "content-filter"
	finishOther  = "other"
)

// The real system's tools that ask have these names in their calls; in requests for a decision they
// have the names without the prefix.
const toolServerPrefix = "mcp__plan-mode-ui__"

// A chatEvent is an event of a turn. The type determines its fields.
type chatEvent struct {
	Type             string            `json:"type"`
	ID               string            `json:"id,omitempty"`
	Delta            *string           `json:"delta,omitempty"`
	ProviderMetadata *providerMetadata `json:"providerMetadata,omitempty"`

	ToolCallID       string          `json:"toolCallId,omitempty"`
	ToolName         string          `json:"toolName,omitempty"`
	Input            json.RawMessage `json:"input,omitzero"`
	InputTextDelta   *string         `json:"inputTextDelta,omitempty"`
	Output           json.RawMessage `json:"output,omitzero"`
	ErrorText        *string         `json:"errorText,omitempty"`
	Preliminary      bool            `json:"preliminary,omitempty"`
	Dynamic          bool            `json:"dynamic,omitempty"`
	Title            string          `json:"title,omitempty"`
	ParentToolCallID string          `json:"parentToolCallId,omitempty"`

	MessageID    string    `json:"messageId,omitempty"`
	FinishReason string    `json:"finishReason,omitempty"`
	Metadata     *metadata `json:"metadata,omitempty"` // of finish
	Reason       string    `json:"reason,omitempty"`
	Mode         string    `json:"mode,omitempty"`
	SessionID    string    `json:"sessionId,omitempty"`

	ClaudeSessionID string          `json:"claudeSessionId,omitempty"`
	Approval        *toolApproval   `json:"approval,omitempty"` // of a tool's output
	MessageMetadata json.RawMessage `json:"messageMetadata,omitempty"`

	Data      json.RawMessage `json:"data,omitempty"`
	Transient bool            `json:"transient,omitempty"`

	chatUsage // of metadata-update
}

// A chatUsage is the usage of one answer of the model.
type chatUsage struct {
	Model               string  `json:"model,omitempty"`
	InputTokens         int64   `json:"inputTokens,omitempty"`
	OutputTokens        int64   `json:"outputTokens,omitempty"`
	CacheReadTokens     int64   `json:"cacheReadInputTokens,omitempty"`
	CacheCreationTokens int64   `json:"cacheCreationInputTokens,omitempty"`
	CostUSD             float64 `json:"costUsd,omitempty"`
}

// A completeUsage is a chatUsage that is written with its zeros.
type completeUsage struct {
	Model               string  `json:"model"`
	InputTokens         int64   `json:"inputTokens"`
	OutputTokens        int64   `json:"outputTokens"`
	CacheReadTokens     int64   `json:"cacheReadInputTokens"`
	CacheCreationTokens int64   `json:"cacheCreationInputTokens"`
	CostUSD             float64 `json:"costUsd,omitempty"`
}

// A toolApproval is the decision on a tool call, in its output.
type toolApproval struct {
	ID       string `json:"id"`
	Approved *bool  `json:"approved,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// MarshalJSON writes the fields that the real server always writes: the parent of a tool call, null
// for none, and all numbers of a usage.
func (e chatEvent) MarshalJSON() ([]byte, error) {
	type plain chatEvent
	switch {
	case e.Type == chatMetadata:
		return protocol.Encode(struct {
			Type string `json:"type"`
			completeUsage
		}{e.Type, completeUsage(e.chatUsage)})
	case strings.HasPrefix(e.Type, "tool-") && e.Type != chatApprovalRequest && e.ParentToolCallID == "":
		return protocol.Encode(struct {
			plain
			ParentToolCallID *string `json:"parentToolCallId"`
		}{plain: plain(e)})
	}
	return protocol.Encode(plain(e))
}

// A providerMetadata extends a text event.
type providerMetadata struct {
	Agentctl *speaker `json:"agentctl,omitempty"`
}

// A speaker is the agent, task or parent tool of a text.
type speaker struct {
	Agent  string `json:"agent,omitempty"`
	Task   string `json:"task,omitempty"`
	Parent string `json:"parent,omitempty"`
}

// metadata is the usage in finish. The real client requires all of its fields.
type metadata struct {
	ClaudeSessionID string  `json:"claudeSessionId"`
	CostUSD         float64 `json:"costUsd"`
	InputTokens     int64   `json:"inputTokens"`
	OutputTokens    int64   `json:"outputTokens"`
	CacheRead       int64   `json:"cacheReadInputTokens"`
	CacheCreation   int64   `json:"cacheCreationInputTokens"`
	ContextWindow   int64   `json:"contextWindow"`
}

// A nativeEvent is the data of chatNative.
type nativeEvent struct {
	Type   protocol.Type   `json:"type"`
	Task   string          `json:"task,omitempty"`
	Parent string          `json:"parent,omitempty"`
	By     *protocol.Actor `json:"by,omitempty"`
	Data   json.RawMessage `json:"data,omitempty"`
}

// A toolOutput is a tool output that is more than text.
type toolOutput struct {
	Text    string             `json:"text,omitempty"`
	Content []protocol.Content `json:"content"`
}

// finishReason and stopReason convert the reason of a turn's end.
func finishReason(r protocol.Reason) string {
	switch r {
	case protocol.ReasonCompleted:
		return finishStop
	case protocol.ReasonMaxTokens:
		return finishLength
	case protocol.ReasonRefusal:
		return finishFilter
	case protocol.ReasonInterrupted, protocol.ReasonDenied:
		return finishOther
	}
	return finishError
}

func stopReason(r protocol.Reason) string {
	switch r {
	case protocol.ReasonCompleted, protocol.ReasonMaxTokens, protocol.ReasonRefusal:
		return stopCompleted
	case protocol.ReasonInterrupted, protocol.ReasonDenied:
		return stopInterrupted
	}
	return stopError
}

// reasonOf converts the reasons of SessionStopped and finish.
func reasonOf(stop, finish string) protocol.Reason {
	switch {
	case stop == stopInterrupted:
		return protocol.ReasonInterrupted
	case stop == stopError:
		return protocol.ReasonError
	case finish == finishLength:
		return protocol.ReasonMaxTokens
	case finish == finishFilter:
		return protocol.ReasonRefusal
	}
	return protocol.ReasonCompleted
}

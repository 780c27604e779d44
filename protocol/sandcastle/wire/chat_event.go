package wire

import (
	"encoding/json"
	"strings"

	"agentctl/protocol"
)

// Types of chat events. The first group is in the document.
const (
	ChatStart           = "start"
	ChatTextStart       = "text-start"
	ChatTextDelta       = "text-delta"
	ChatTextEnd         = "text-end"
	ChatReasoningStart  = "reasoning-start"
	ChatReasoningDelta  = "reasoning-delta"
	ChatReasoningEnd    = "reasoning-end"
	ChatToolInputStart  = "tool-input-start"
	ChatToolInput       = "tool-input-available"
	ChatToolOutput      = "tool-output-available"
	ChatToolOutputError = "tool-output-error"
	ChatFinish          = "finish"

	ChatToolInputDelta  = "tool-input-delta"
	ChatToolInputError  = "tool-input-error"
	ChatToolDenied      = "tool-output-denied"
	ChatApprovalRequest = "tool-approval-request"
	ChatStartStep       = "start-step"
	ChatFinishStep      = "finish-step"
	ChatMetadata        = "metadata-update"
	ChatError           = "error"
	ChatModeChange      = "mode-change"
	ChatRenamed         = "session-renamed"

	// ChatNative carries a native event without an equivalent as a transient data part, which
	// reaches clients' data callback but is not part of a message.
	ChatNative = "data-agentctl"
)

// ToolServerPrefix begins the names of the real system's tools that ask, in their calls. Requests for
// a decision have the names without it.
const ToolServerPrefix = "mcp__plan-mode-ui__"

// A ChatEvent is an event of a turn. The type determines its fields.
type ChatEvent struct {
	Type             string            `json:"type"`
	ID               string            `json:"id,omitempty"`
	Delta            *string           `json:"delta,omitempty"`
	ProviderMetadata *ProviderMetadata `json:"providerMetadata,omitempty"`

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
	Metadata     *Metadata `json:"metadata,omitempty"` // of finish
	Reason       string    `json:"reason,omitempty"`
	Mode         string    `json:"mode,omitempty"`
	SessionID    string    `json:"sessionId,omitempty"`

	ClaudeSessionID string          `json:"claudeSessionId,omitempty"`
	Approval        *ToolApproval   `json:"approval,omitempty"` // of a tool's output
	MessageMetadata json.RawMessage `json:"messageMetadata,omitempty"`

	Data      json.RawMessage `json:"data,omitempty"`
	Transient bool            `json:"transient,omitempty"`

	ChatUsage // of metadata-update
}

// A ChatUsage is the usage of one answer of the model.
type ChatUsage struct {
	Model               string  `json:"model,omitempty"`
	InputTokens         int64   `json:"inputTokens,omitempty"`
	OutputTokens        int64   `json:"outputTokens,omitempty"`
	CacheReadTokens     int64   `json:"cacheReadInputTokens,omitempty"`
	CacheCreationTokens int64   `json:"cacheCreationInputTokens,omitempty"`
	CostUSD             float64 `json:"costUsd,omitempty"`
}

// A completeUsage is a ChatUsage that is written with its zeros.
type completeUsage struct {
	Model               string  `json:"model"`
	InputTokens         int64   `json:"inputTokens"`
	OutputTokens        int64   `json:"outputTokens"`
	CacheReadTokens     int64   `json:"cacheReadInputTokens"`
	CacheCreationTokens int64   `json:"cacheCreationInputTokens"`
	CostUSD             float64 `json:"costUsd,omitempty"`
}

// A ToolApproval is the decision on a tool call, in its output.
type ToolApproval struct {
	ID       string `json:"id"`
	Approved *bool  `json:"approved,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// MarshalJSON writes the fields that the real server always writes: the parent of a tool call, null
// for none, and all numbers of a usage.
func (e ChatEvent) MarshalJSON() ([]byte, error) {
	type plain ChatEvent
	switch {
	case e.Type == ChatMetadata:
		return protocol.Encode(struct {
			Type string `json:"type"`
			completeUsage
		}{e.Type, completeUsage(e.ChatUsage)})
	case strings.HasPrefix(e.Type, "tool-") && e.Type != ChatApprovalRequest && e.ParentToolCallID == "":
		return protocol.Encode(struct {
			plain
			ParentToolCallID *string `json:"parentToolCallId"`
		}{plain: plain(e)})
	}
	return protocol.Encode(plain(e))
}

// A ProviderMetadata extends a text event.
type ProviderMetadata struct {
	Agentctl *Speaker `json:"agentctl,omitempty"`
}

// A Speaker is the agent, task or parent tool of a text.
type Speaker struct {
	Agent  string `json:"agent,omitempty"`
	Task   string `json:"task,omitempty"`
	Parent string `json:"parent,omitempty"`
}

// Metadata is the usage in finish. The real client requires all of its fields.
type Metadata struct {
	ClaudeSessionID string  `json:"claudeSessionId"`
	CostUSD         float64 `json:"costUsd"`
	InputTokens     int64   `json:"inputTokens"`
	OutputTokens    int64   `json:"outputTokens"`
	CacheRead       int64   `json:"cacheReadInputTokens"`
	CacheCreation   int64   `json:"cacheCreationInputTokens"`
	ContextWindow   int64   `json:"contextWindow"`
}

// A NativeEvent is the data of ChatNative.
type NativeEvent struct {
	Type   protocol.Type   `json:"type"`
	Task   string          `json:"task,omitempty"`
	Parent string          `json:"parent,omitempty"`
	By     *protocol.Actor `json:"by,omitempty"`
	Data   json.RawMessage `json:"data,omitempty"`
}

// A ToolOutput is a tool output that is more than text.
type ToolOutput struct {
	Text    string             `json:"text,omitempty"`
	Content []protocol.Content `json:"content"`
}

// A TextBlock is the text of an output that is a list of blocks.
type TextBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

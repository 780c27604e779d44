package wire

import (
	"encoding/json"
	"slices"
	"strings"

	"agentctl/protocol"
)

// DecodeHistory decodes the messages of finished turns, from a list or an object with one. ok is
// false for other JSON. A malformed message is skipped.
func DecodeHistory(raw json.RawMessage) (messages []ChatMessage, ok bool) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		var object struct {
			Messages []json.RawMessage `json:"messages"`
		}
		_ = json.Unmarshal(raw, &object)
		list = object.Messages
	}
	for _, one := range list {
		var m ChatMessage
		if json.Unmarshal(one, &m) == nil && m.ID != "" {
			messages = append(messages, m)
		}
	}
	return messages, list != nil
}

// UnmarshalJSON decodes a part and keeps its JSON.
func (p *MessagePart) UnmarshalJSON(raw []byte) error {
	type plain MessagePart
	if err := json.Unmarshal(raw, (*plain)(p)); err != nil {
		*p = MessagePart{}
	}
	p.Whole = slices.Clone(raw)
	return nil
}

// Text returns the text of a user's message.
func (m *ChatMessage) Text() string {
	var text strings.Builder
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Type == "text" && p.Text != nil && p.Filename == "" {
			text.WriteString(*p.Text)
		}
	}
	return text.String()
}

// Tool returns the tool's name, from its field or from the type after "tool-".
func (p *MessagePart) Tool() string {
	if p.ToolName == "" && len(p.Type) > len("tool-") && p.Type[:len("tool-")] == "tool-" {
		return p.Type[len("tool-"):]
	}
	return p.ToolName
}

// A ChatMessage is a message of a finished turn, as the history endpoint and chat.getHistory return
// it.
type ChatMessage struct {
	ID              string        `json:"id"`
	SessionID       string        `json:"sessionId,omitempty"` // not at the endpoint
	Role            string        `json:"role"`                // user or assistant
	Parts           []MessagePart `json:"parts"`
	CreatedAt       string        `json:"createdAt"`
	ClientMessageID string        `json:"clientMessageId,omitempty"`
	TurnID          string        `json:"turnId"`

	Metadata json.RawMessage `json:"metadata,omitempty"` // of an answer
}

// An AnswerMetadata carries how an answer's turn ended. The protocol itself distinguishes fewer
// reasons.
type AnswerMetadata struct {
	Agentctl        *protocol.TurnEndedData `json:"agentctl,omitempty"`
	ClaudeSessionID string                  `json:"claudeSessionId,omitempty"`
	Model           string                  `json:"model,omitempty"`
}

// TurnEndOf decodes the turn's end from the metadata of an answer; nil if it is missing.
func TurnEndOf(metadata json.RawMessage) *protocol.TurnEndedData {
	var m AnswerMetadata
	if json.Unmarshal(metadata, &m) != nil {
		return nil
	}
	return m.Agentctl
}

// A MessagePart is text, reasoning, a tool call, or a part of a user message.
type MessagePart struct {
	Type             string          `json:"type"`
	Text             *string         `json:"text,omitempty"`
	Filename         string          `json:"filename,omitempty"` // of a file sent as text
	State            string          `json:"state,omitempty"`
	ToolCallID       string          `json:"toolCallId,omitempty"`
	ToolName         string          `json:"toolName,omitempty"`
	Title            string          `json:"title,omitempty"`
	Input            json.RawMessage `json:"input,omitempty"`
	Output           json.RawMessage `json:"output,omitempty"`
	ErrorText        string          `json:"errorText,omitempty"`
	Approval         *ToolApproval   `json:"approval,omitempty"`
	ParentToolCallID string          `json:"parentToolCallId,omitempty"`

	Whole json.RawMessage `json:"-"` // written instead of the fields
}

// MarshalJSON writes a user's part unchanged.
func (p MessagePart) MarshalJSON() ([]byte, error) {
	if p.Whole != nil {
		return p.Whole, nil
	}
	type plain MessagePart
	return protocol.Encode(plain(p))
}

// A HistoryResult is the result of a history request.
type HistoryResult struct {
	Messages []ChatMessage `json:"messages"`
}

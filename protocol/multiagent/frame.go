package multiagent

import (
	"encoding/json"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// Types of messages.
const (
	typePing     = "PING"
	typePong     = "PONG"
	typeStart    = "start_conversation"
	typeStarted  = "conversation_started"
	typeSend     = "send_message"
	typeCancel   = "cancel_stream"
	typeApprove  = "approve_tool"
	typeChunk    = "message_chunk"
	typeComplete = "message_complete"
	typeAsk      = "tool_approval_required"
	typeExecuted = "tool_executed"
	typeError    = "error"
	typeSelected = "agent_selected"
	typeThought  = "workflow_thought"
)

// A frame is a message that we say.
type frame struct {
	Type         string `json:"type"`
	Conversation string `json:"conversationId,omitempty"`
	Request      string `json:"requestId,omitempty"`
	Error        string `json:"error,omitempty"`
	Payload      any    `json:"payload,omitempty"`
}

func (f frame) encode() codec.Frame { return codec.Frame{Data: protocol.MustEncode(f)} }

type conversationStarted struct {
	Conversation string `json:"conversationId"`
	Domain       string `json:"domainId"`
	Agent        string `json:"activeAgent"`
}

type startPayload struct {
	Domain string `json:"domainId"`
}

type sendPayload struct {
	Content  string `json:"content"`
	Thinking bool   `json:"enableThinking,omitempty"`
}

type approvePayload struct {
	Approved bool   `json:"approved"`
	Reason   string `json:"reason,omitempty"`
}

type messageChunk struct {
	Message string `json:"messageId"`
	Chunk   string `json:"chunk"`
	Agent   string `json:"agentName"`
}

type messageComplete struct {
	Message  string   `json:"messageId"`
	Content  string   `json:"content"`
	Agent    string   `json:"agentName"`
	Metadata metadata `json:"metadata"`
}

type metadata struct {
	Tokens   int64 `json:"tokenCount"`
	Duration int64 `json:"durationMs"`
}

type approvalRequest struct {
	Request     string          `json:"requestId"`
	Tool        string          `json:"toolName"`
	Args        json.RawMessage `json:"toolArgs"`
	Description string          `json:"description"`
	Agent       string          `json:"agentName"`
}

type toolExecuted struct {
	Request string          `json:"requestId"`
	Tool    string          `json:"toolName"`
	Result  json.RawMessage `json:"result"`
	Success bool            `json:"success"`
	Error   *string         `json:"errorMessage"`
}

// plain is the result of a tool that has no structure.
type plainResult struct {
	Output   string `json:"output,omitempty"`
	ExitCode *int   `json:"exitCode,omitempty"`
}

type workflowThought struct {
	ID           string `json:"agentId"`
	Agent        string `json:"agentName"`
	Conversation string `json:"conversationId"`
	Reason       string `json:"reason"`
}

// A heard message is one of the peer's: any field may be anything.
type message map[string]json.RawMessage

// hear reads a message of the peer; nil when it is no JSON object.
func decodeMessage(data []byte) message {
	var m message
	if json.Unmarshal(data, &m) != nil {
		return nil
	}
	return m
}

// text returns a field that is a string, as valid UTF-8; else nothing.
func (m message) text(field string) string {
	var s string
	if json.Unmarshal(m[field], &s) != nil {
		return ""
	}
	return protocol.ValidText(s)
}

// word returns a text that names something: nothing when it is too long for a name.
func (m message) name(field string) string {
	s := m.text(field)
	if len(s) > maxName {
		return ""
	}
	return s
}

// maxWord bounds what names something, in bytes.
const maxName = 256

func (m message) number(field string) int64 {
	var n float64
	if json.Unmarshal(m[field], &n) != nil || n < 0 || n > 1<<53 {
		return 0
	}
	return int64(n)
}

// flag returns a field that is a boolean; known is false when it is none.
func (m message) flag(field string) (v, known bool) {
	var b *bool
	if json.Unmarshal(m[field], &b) != nil || b == nil {
		return false, false
	}
	return *b, true
}

// body is where a message keeps what it says: payload, data, or the message itself.
func (m message) payload() message {
	for _, field := range []string{"payload", "data"} {
		if b := decodeMessage(m[field]); len(b) > 0 {
			return b
		}
	}
	return m
}

// kind returns the type of a message. The real system knows each in capitals, too.
func (m message) messageType() string {
	t := m.name("type")
	if upper := strings.ToUpper(t); upper == typePing || upper == typePong {
		return upper
	}
	if t == strings.ToUpper(t) {
		return strings.ToLower(t)
	}
	return t
}

// conversation returns the conversation that a message names, at its top or in its body.
func (m message) conversation() string {
	if id := m.name("conversationId"); id != "" {
		return id
	}
	return m.payload().name("conversationId")
}

// request returns the request that a message names, at its top or in its body.
func (m message) request() string {
	if id := m.name("requestId"); id != "" {
		return id
	}
	return m.payload().name("requestId")
}

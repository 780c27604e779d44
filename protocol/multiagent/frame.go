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

type started struct {
	Conversation string `json:"conversationId"`
	Domain       string `json:"domainId"`
	Agent        string `json:"activeAgent"`
}

type domain struct {
	Domain string `json:"domainId"`
}

type content struct {
	Content  string `json:"content"`
	Thinking bool   `json:"enableThinking,omitempty"`
}

type verdict struct {
	Approved bool   `json:"approved"`
	Reason   string `json:"reason,omitempty"`
}

type chunk struct {
	Message string `json:"messageId"`
	Chunk   string `json:"chunk"`
	Agent   string `json:"agentName"`
}

type complete struct {
	Message  string   `json:"messageId"`
	Content  string   `json:"content"`
	Agent    string   `json:"agentName"`
	Metadata metadata `json:"metadata"`
}

type metadata struct {
	Tokens   int64 `json:"tokenCount"`
	Duration int64 `json:"durationMs"`
}

type ask struct {
	Request     string          `json:"requestId"`
	Tool        string          `json:"toolName"`
	Args        json.RawMessage `json:"toolArgs"`
	Description string          `json:"description"`
	Agent       string          `json:"agentName"`
}

type executed struct {
	Request string          `json:"requestId"`
	Tool    string          `json:"toolName"`
	Result  json.RawMessage `json:"result"`
	Success bool            `json:"success"`
	Error   *string         `json:"errorMessage"`
}

// plain is the result of a tool that has no structure.
type plain struct {
	Output   string `json:"output,omitempty"`
	ExitCode *int   `json:"exitCode,omitempty"`
}

type thought struct {
	ID           string `json:"agentId"`
	Agent        string `json:"agentName"`
	Conversation string `json:"conversationId"`
	Reason       string `json:"reason"`
}

// A heard message is one of the peer's: any field may be anything.
type heard map[string]json.RawMessage

// hear reads a message of the peer; nil when it is no JSON object.
func hear(data []byte) heard {
	var h heard
	if json.Unmarshal(data, &h) != nil {
		return nil
	}
	return h
}

// text returns a field that is a string, as valid UTF-8; else nothing.
func (h heard) text(field string) string {
	var s string
	if json.Unmarshal(h[field], &s) != nil {
		return ""
	}
	return protocol.ValidText(s)
}

// word returns a text that names something: nothing when it is too long for a name.
func (h heard) word(field string) string {
	s := h.text(field)
	if len(s) > maxWord {
		return ""
	}
	return s
}

// maxWord bounds what names something, in bytes.
const maxWord = 256

func (h heard) number(field string) int64 {
	var n float64
	if json.Unmarshal(h[field], &n) != nil || n < 0 || n > 1<<53 {
		return 0
	}
	return int64(n)
}

// flag returns a field that is a boolean; known is false when it is none.
func (h heard) flag(field string) (v, known bool) {
	var b *bool
	if json.Unmarshal(h[field], &b) != nil || b == nil {
		return false, false
	}
	return *b, true
}

// body is where a message keeps what it says: payload, data, or the message itself.
func (h heard) body() heard {
	for _, field := range []string{"payload", "data"} {
		if b := hear(h[field]); len(b) > 0 {
			return b
		}
	}
	return h
}

// kind returns the type of a message. The real system knows each in capitals, too.
func (h heard) kind() string {
	t := h.word("type")
	if upper := strings.ToUpper(t); upper == typePing || upper == typePong {
		return upper
	}
	if t == strings.ToUpper(t) {
		return strings.ToLower(t)
	}
	return t
}

// conversation returns the conversation that a message names, at its top or in its body.
func (h heard) conversation() string {
	if id := h.word("conversationId"); id != "" {
		return id
	}
	return h.body().word("conversationId")
}

// request returns the request that a message names, at its top or in its body.
func (h heard) request() string {
	if id := h.word("requestId"); id != "" {
		return id
	}
	return h.body().word("requestId")
}

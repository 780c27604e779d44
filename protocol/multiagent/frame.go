package multiagent

import (
	"encoding/json"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// Message types.
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

	// typeAnswer is agentctl's extension: the answer to a message with a note.
	typeAnswer = "agentctl_answer"
)

// A frame is an outgoing message.
type frame struct {
	Type         string `json:"type"`
	Conversation string `json:"conversationId,omitempty"`
	Request      string `json:"requestId,omitempty"`
	Error        string `json:"error,omitempty"`
	Payload      any    `json:"payload,omitempty"`
	Note         *note  `json:"agentctl,omitempty"`
}

// A note is agentctl's extension of send_message and approve_tool: the key that makes the message
// act once. agentctl's server answers a message with a note by an agentctl_answer with that key.
type note struct {
	Key string `json:"key"`
}

// An answer is the payload of agentctl_answer. Error is nil if the message was accepted. Turn is
// what became of an accepted user message.
type answer struct {
	Error  *protocol.Error `json:"error,omitempty"`
	Turn   string          `json:"turn,omitempty"`
	Output string          `json:"output,omitempty"` // the messageId of the output of a turn that is over
}

// The values of Turn. A second answer with turnBegun follows turnQueued and turnBegins, when the
// turn begins.
const (
	turnQueued = "queued" // the message waits behind others
	turnBegins = "begins" // its turn is next
	turnBegun  = "begun"  // its turn is under way, and its output is what followed the last turn
	turnOver   = "over"   // its turn has ended
)

// decodeAnswer decodes an agentctl_answer; nil: it is none.
func decodeAnswer(data []byte) *answer {
	var m struct {
		Payload *answer `json:"payload"`
	}
	if json.Unmarshal(data, &m) != nil {
		return nil
	}
	return m.Payload
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
	Error   string          `json:"errorMessage,omitempty"`
}

// A plainResult is the result of a tool without structured output.
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

// A message is an incoming message. Any field can have any type.
type message map[string]json.RawMessage

// decodeMessage decodes a message; nil if data is no JSON object.
func decodeMessage(data []byte) message {
	var m message
	if json.Unmarshal(data, &m) != nil {
		return nil
	}
	return m
}

// text returns a string field as valid UTF-8, or "".
func (m message) text(field string) string {
	var s string
	if json.Unmarshal(m[field], &s) != nil {
		return ""
	}
	return protocol.ValidText(s)
}

// name returns a string field that is a name or id, or "" if it is too long for one.
func (m message) name(field string) string {
	s := m.text(field)
	if len(s) > maxName {
		return ""
	}
	return s
}

// maxName bounds a name or id, in bytes.
const maxName = 256

func (m message) number(field string) int64 {
	var n float64
	if json.Unmarshal(m[field], &n) != nil || n < 0 || n > 1<<53 {
		return 0
	}
	return int64(n)
}

// flag returns a boolean field. known is false if it is missing.
func (m message) flag(field string) (v, known bool) {
	var b *bool
	if json.Unmarshal(m[field], &b) != nil || b == nil {
		return false, false
	}
	return *b, true
}

// payload returns the content of a message: payload, data, or the message itself.
func (m message) payload() message {
	for _, field := range []string{"payload", "data"} {
		if b := decodeMessage(m[field]); len(b) > 0 {
			return b
		}
	}
	return m
}

// messageType returns the type of a message. The real system accepts each type in capitals too.
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

// conversation returns the conversationId of a message or of its payload.
func (m message) conversation() string {
	if id := m.name("conversationId"); id != "" {
		return id
	}
	return m.payload().name("conversationId")
}

// key returns the key in the note of a message; empty: none.
func (m message) key() string {
	key := decodeMessage(m["agentctl"]).name("key")
	if len(key) > maxKey {
		return ""
	}
	return key
}

// maxKey bounds a key, in bytes.
const maxKey = 128

// request returns the requestId of a message or of its payload.
func (m message) request() string {
	if id := m.name("requestId"); id != "" {
		return id
	}
	return m.payload().name("requestId")
}

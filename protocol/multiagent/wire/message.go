package wire

import (
	"encoding/json"
	"strings"

	"agentctl/protocol"
)

// A Message is an incoming message. Any field can have any type.
type Message map[string]json.RawMessage

// DecodeMessage decodes a message; nil if data is not a JSON object.
func DecodeMessage(data []byte) Message {
	var m Message
	if json.Unmarshal(data, &m) != nil {
		return nil
	}
	return m
}

// Text returns a string field as valid UTF-8, or "".
func (m Message) Text(field string) string {
	var s string
	if json.Unmarshal(m[field], &s) != nil {
		return ""
	}
	return protocol.ValidText(s)
}

// Name returns a string field that is a name or id, or "" if it is too long for one.
func (m Message) Name(field string) string {
	s := m.Text(field)
	if len(s) > MaxName {
		return ""
	}
	return s
}

// MaxName bounds a name or id, in bytes.
const MaxName = 256

// Int returns a number field without its fraction, or 0 if it is negative or over 2^53.
func (m Message) Int(field string) int64 {
	var n float64
	if json.Unmarshal(m[field], &n) != nil || n < 0 || n > 1<<53 {
		return 0
	}
	return int64(n)
}

// Flag returns a boolean field. known is false if it is missing.
func (m Message) Flag(field string) (v, known bool) {
	var b *bool
	if json.Unmarshal(m[field], &b) != nil || b == nil {
		return false, false
	}
	return *b, true
}

// Payload returns the content of a message: payload, data, or the message itself.
func (m Message) Payload() Message {
	for _, field := range []string{"payload", "data"} {
		if b := DecodeMessage(m[field]); len(b) > 0 {
			return b
		}
	}
	return m
}

// Type returns the type of a message. The real system accepts each type in capitals too.
func (m Message) Type() string {
	t := m.Name("type")
	if upper := strings.ToUpper(t); upper == TypePing || upper == TypePong {
		return upper
	}
	if t == strings.ToUpper(t) {
		return strings.ToLower(t)
	}
	return t
}

// Conversation returns the conversationId of a message or of its payload.
func (m Message) Conversation() string {
	if id := m.Name("conversationId"); id != "" {
		return id
	}
	return m.Payload().Name("conversationId")
}

// Key returns the key in the note of a message; empty: none.
func (m Message) Key() string {
	key := DecodeMessage(m["agentctl"]).Name("key")
	if len(key) > maxKey {
		return ""
	}
	return key
}

// maxKey bounds a key, in bytes.
const maxKey = 128

// Request returns the requestId of a message or of its payload.
func (m Message) Request() string {
	if id := m.Name("requestId"); id != "" {
		return id
	}
	return m.Payload().Name("requestId")
}

// IsToolRequest reports whether a message asks for a tool in the real system's form. To agentctl's
// agents it is text.
func IsToolRequest(text string) bool { return strings.HasPrefix(text, "/tool ") }

// ApprovalArgs returns the arguments of a request. The protocol requires an object.
func ApprovalArgs(a *protocol.Approval) json.RawMessage {
	if a.TellsInput() && a.Input[0] == '{' {
		return a.Input
	}
	return protocol.MustEncode(struct {
		Input     json.RawMessage     `json:"input,omitempty"`
		Command   string              `json:"command,omitempty"`
		CWD       string              `json:"cwd,omitempty"`
		Patch     string              `json:"patch,omitempty"`
		Content   []protocol.Content  `json:"content,omitempty"`
		Paths     []string            `json:"paths,omitempty"`
		Tasks     []protocol.Task     `json:"tasks,omitempty"`
		Questions []protocol.Question `json:"questions,omitempty"`
		Page      *protocol.Page      `json:"page,omitempty"`
	}{a.Input, a.Command, a.CWD, a.Patch, a.Content, a.Paths, a.Tasks, a.Questions, a.Page})
}

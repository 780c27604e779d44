package model

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
)

// A Role is the author of a message.
type Role string

// The roles.
const (
	User      Role = "user"      // texts, files, and the results of tools
	Assistant Role = "assistant" // texts, reasoning and calls of the model
)

// A Message is an entry of a conversation.
type Message struct {
	Role   Role   `json:"role"`
	Parts  []Part `json:"parts"`
	Origin string `json:"origin,omitempty"` // of the assistant: provider and model that made it
}

// A PartType is the type of a part.
type PartType string

// The types of parts.
const (
	Text       PartType = "text"
	Reasoning  PartType = "reasoning"
	ToolCall   PartType = "call"
	ToolResult PartType = "result"
	FilePart   PartType = "file"
	Opaque     PartType = "opaque" // only Raw: a part that only its provider understands
)

// A Part is a piece of a message. Raw is the part as its provider sent it. It returns unchanged,
// and only to the origin of its message; others get the other fields.
type Part struct {
	Type   PartType        `json:"type"`
	Text   string          `json:"text,omitempty"`  // of a text, of reasoning
	Asked  bool            `json:"asked,omitempty"` // a user wrote the text
	Note   *Note           `json:"note,omitempty"`  // the agent wrote the text, about the session
	Call   *Call           `json:"call,omitempty"`
	Result *Result         `json:"result,omitempty"`
	File   *File           `json:"file,omitempty"`
	Raw    json.RawMessage `json:"raw,omitempty"`
}

// A Note says what a text of the agent is about, and identifies what it says. An empty state: it says that
// an earlier note of the same does not apply any more.
type Note struct {
	Of    string `json:"of"`
	State string `json:"state,omitempty"`
}

// A Call is a call of a tool by the model.
type Call struct {
	ID    string          `json:"id"` // of the provider, or made by it: unique within its message
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"` // an object

	// Invalid: the model sent no JSON object. Input then has its text in the field invalid_json,
	// and the call must not run.
	Invalid bool `json:"invalid,omitempty"`
}

// A Result is the result of a call. Each call of a message has one in the next message.
type Result struct {
	ID    string `json:"id"` // of the call
	Name  string `json:"name"`
	Text  string `json:"text"`
	Error bool   `json:"error,omitempty"`
	Files []File `json:"files,omitempty"`
}

// A File is a file in a message. Text, Data or Blob is set. In a request it is not Blob alone.
type File struct {
	Name      string `json:"name,omitempty"`
	MediaType string `json:"media_type,omitempty"`
	Text      string `json:"text,omitempty"`
	Data      []byte `json:"data,omitempty"`
	Blob      string `json:"blob,omitempty"`  // id of the blob of the session with the data
	Bytes     int64  `json:"bytes,omitempty"` // of the blob
}

// ImageTypes are the types of images that all providers take.
var ImageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// IsImage reports whether the file is an image.
func (f *File) IsImage() bool { return strings.HasPrefix(f.MediaType, "image/") }

// Described returns a text file as text for a model.
func (f *File) Described() string { return "File " + f.Name + ":\n\n" + f.Text }

// DataURL returns the data of a file as a URL.
func (f *File) DataURL() string {
	return "data:" + f.MediaType + ";base64," + base64.StdEncoding.EncodeToString(f.Data)
}

// Texts returns a message with one text.
func Texts(role Role, text string) Message {
	return Message{Role: role, Parts: []Part{{Type: Text, Text: text}}}
}

// Calls returns the calls of a message.
func (m *Message) Calls() []Call {
	var calls []Call
	for _, p := range m.Parts {
		if p.Type == ToolCall {
			calls = append(calls, *p.Call)
		}
	}
	return calls
}

// Text joins the texts of a message.
func (m *Message) Text() string {
	var b strings.Builder
	for _, p := range m.Parts {
		if p.Type == Text {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// Append appends a message to a conversation. A message of the user after one of the user becomes part of it. The
// list of messages may change in place, the lists of their parts do not.
func Append(messages []Message, m Message) []Message {
	if n := len(messages); n > 0 && m.Role == User && messages[n-1].Role == User {
		messages[n-1].Parts = slices.Concat(messages[n-1].Parts, m.Parts)
		return messages
	}
	if len(m.Parts) == 0 {
		return messages
	}
	return append(messages, m)
}

package sandcastle

import (
	"bytes"
	"encoding/json"
	"strings"

	"agentctl/protocol"
)

// A part is a piece of a user's message that we know how to say.
type part struct {
	Type      string `json:"type"`
	Text      string `json:"text,omitempty"`
	MediaType string `json:"mediaType,omitempty"`
	Filename  string `json:"filename,omitempty"`
	URL       string `json:"url,omitempty"`
}

// partsOf says a message's parts; nil when it has none. Its text comes first, as their clients send it.
func foreignParts(m *protocol.Message) json.RawMessage {
	if len(m.Parts) == 0 {
		return nil
	}
	var list []json.RawMessage
	if m.Text != "" {
		list = append(list, protocol.MustEncode(part{Type: "text", Text: m.Text}))
	}
	for _, p := range m.Parts {
		switch {
		case p.Data != nil:
			list = append(list, p.Data)
		case p.Type == "text":
			list = append(list, protocol.MustEncode(part{Type: "text", Text: p.Text}))
		case p.URL != "":
			list = append(list, protocol.MustEncode(part{Type: "file", URL: p.URL, MediaType: p.MediaType, Filename: p.Name}))
		default:
			list = append(list, protocol.MustEncode(part{Type: "text", Text: p.Text, Filename: p.Name}))
		}
	}
	return protocol.MustEncode(list)
}

// maxParts bounds the parts of one message.
const maxParts = 256

// nativeParts reads parts. Text parts that together say the content again are the content: an agent must not hear it twice.
// Parts that are more than what we know of them are kept whole.
func nativeParts(content string, raw json.RawMessage) []protocol.Part {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	list = list[:min(len(list), maxParts)]
	said := new(strings.Builder)
	parts := make([]protocol.Part, 0, len(list))
	for _, raw := range list {
		var p part
		if json.Unmarshal(raw, &p) != nil {
			continue
		}
		if p.Type == "text" && p.Filename == "" {
			said.WriteString(p.Text)
			parts = append(parts, protocol.Part{Type: "text", Text: p.Text})
			continue
		}
		whole, _ := protocol.Compact(raw)
		if bytes.Equal(whole, protocol.MustEncode(p)) {
			whole = nil // it says no more
		}
		if p.Type == "text" { // with a name: a file that came as text
			p.Type = "file"
		}
		parts = append(parts, protocol.Part{Type: p.Type, Text: p.Text, URL: p.URL, MediaType: p.MediaType, Name: p.Filename, Data: whole})
	}
	if said.String() != content {
		return parts
	}
	others := parts[:0]
	for _, p := range parts {
		if p.Type != "text" {
			others = append(others, p)
		}
	}
	if len(others) == 0 {
		return nil
	}
	return others
}

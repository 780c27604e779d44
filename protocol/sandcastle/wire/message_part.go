package wire

import (
	"bytes"
	"encoding/json"
	"strings"

	"agentctl/protocol"
)

// A Part is a known part of a user message.
type Part struct {
	Type      string `json:"type"`
	Text      string `json:"text,omitempty"`
	MediaType string `json:"mediaType,omitempty"`
	Filename  string `json:"filename,omitempty"`
	URL       string `json:"url,omitempty"`
}

// ForeignParts encodes a message's parts; nil if it has none. The text comes first, as in clients'
// messages.
func ForeignParts(m *protocol.Message) json.RawMessage {
	if len(m.Parts) == 0 {
		return nil
	}
	var list []json.RawMessage
	if m.Text != "" {
		list = append(list, protocol.MustEncode(Part{Type: "text", Text: m.Text}))
	}
	for _, p := range m.Parts {
		switch {
		case p.Data != nil:
			list = append(list, p.Data)
		case p.Type == "text":
			list = append(list, protocol.MustEncode(Part{Type: "text", Text: p.Text}))
		case p.URL != "":
			list = append(list, protocol.MustEncode(Part{
				Type: "file", URL: p.URL, MediaType: p.MediaType, Filename: p.Name,
			}))
		default:
			list = append(list, protocol.MustEncode(Part{Type: "text", Text: p.Text, Filename: p.Name}))
		}
	}
	return protocol.MustEncode(list)
}

// maxParts bounds the parts of a message.
const maxParts = 256

// NativeParts decodes parts. It drops text parts that together repeat the content, so that an agent
// does not receive it twice. A part with unknown fields is kept whole.
func NativeParts(content string, raw json.RawMessage) []protocol.Part {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	list = list[:min(len(list), maxParts)]
	texts := new(strings.Builder)
	parts := make([]protocol.Part, 0, len(list))
	for _, raw := range list {
		var p Part
		if json.Unmarshal(raw, &p) != nil {
			continue
		}
		if p.Type == "text" && p.Filename == "" {
			texts.WriteString(p.Text)
			parts = append(parts, protocol.Part{Type: "text", Text: p.Text})
			continue
		}
		whole, _ := protocol.Compact(raw)
		if bytes.Equal(whole, protocol.MustEncode(p)) {
			whole = nil // no unknown fields
		}
		if p.Type == "text" { // with a name: a file sent as text
			p.Type = "file"
		}
		parts = append(parts, protocol.Part{
			Type: p.Type, Text: p.Text, URL: p.URL, MediaType: p.MediaType, Name: p.Filename, Data: whole,
		})
	}
	if texts.String() != content {
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

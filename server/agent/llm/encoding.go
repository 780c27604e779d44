package llm

import (
	"bytes"
	"encoding/json"
	"fmt"

	"agentctl/server/agent/llm/model"
)

// An encodedMessage is the encoding of a message of the conversation. Parts of messages never
// change in place, so the same slice of parts has the same encoding.
type encodedMessage struct {
	first *model.Part
	parts int
	json  []byte
}

// encodeMessages returns the encodings of the conversation. It encodes only messages that are new
// since the last call.
func (s *state) encodeMessages() ([]encodedMessage, error) {
	all := make([]encodedMessage, len(s.Conversation))
	for i := range s.Conversation {
		m := &s.Conversation[i]
		if len(m.Parts) > 0 && i < len(s.encoded) && s.encoded[i].parts == len(m.Parts) &&
			s.encoded[i].first == &m.Parts[0] {
			all[i] = s.encoded[i]
			continue
		}
		b, err := json.Marshal(m)
		if err != nil {
			return nil, err
		}
		if all[i] = (encodedMessage{parts: len(m.Parts), json: b}); len(m.Parts) > 0 {
			all[i].first = &m.Parts[0]
		}
	}
	s.encoded = all
	return all, nil
}

// noConversation is the encoding of an empty conversation. No text comes before it.
var noConversation = []byte(`"conversation":null`)

// plain returns the state as JSON.
func (s *state) plain() ([]byte, error) {
	messages, err := s.encodeMessages()
	if err != nil {
		return nil, fmt.Errorf("encode state: %w", err)
	}
	rest := *s
	rest.Conversation = nil
	b, err := json.Marshal(&rest)
	if err != nil {
		return nil, fmt.Errorf("encode state: %w", err)
	}
	if len(messages) == 0 {
		return b, nil
	}
	before, after, _ := bytes.Cut(b, noConversation)
	size := len(b) + len(messages)
	for i := range messages {
		size += len(messages[i].json)
	}
	out := append(make([]byte, 0, size), before...)
	out = append(out, `"conversation":[`...)
	for i := range messages {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, messages[i].json...)
	}
	return append(append(out, ']'), after...), nil
}

package fakemodel

import (
	"encoding/json"
	"fmt"
)

type messages struct {
	numbered
	model   string
	started bool
	open    string // type of the open content block, or ""
	index   int
}

func decodeMessages(body []byte) (Request, encoder, error) {
	var in struct {
		Model    string
		Stream   bool
		System   json.RawMessage
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Tools []struct{ Name string }
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, nil, fmt.Errorf("decode messages request: %w", err)
	}
	req := Request{API: Messages, Model: in.Model, Stream: in.Stream, System: texts(in.System)}
	for _, t := range in.Tools {
		req.Tools = append(req.Tools, t.Name)
	}
	for _, m := range in.Messages {
		if m.Role == "system" {
			req.System += texts(m.Content)
			continue
		}
		var blocks []struct {
			Type, Text, Name string
			Content          json.RawMessage
		}
		if json.Unmarshal(m.Content, &blocks) != nil {
			req.add(Message{Role: m.Role, Text: texts(m.Content)})
			continue
		}
		for _, b := range blocks {
			switch b.Type {
			case "tool_use":
				req.add(Message{Role: Assistant, Call: b.Name})
			case "tool_result":
				req.add(Message{Role: Tool, Text: texts(b.Content)})
			default:
				req.add(Message{Role: m.Role, Text: b.Text})
			}
		}
	}
	return req, &messages{model: in.Model}, nil
}

func (m *messages) event(s *stream, kind string, fields obj) {
	fields["type"] = kind
	s.event(kind, fields)
}

func (m *messages) message(content []obj, stop any, u usage) obj {
	return obj{
		"id": m.id("msg"), "type": "message", "role": "assistant", "model": m.model, "content": content,
		"stop_reason": stop, "stop_sequence": nil, "usage": messagesUsage(u),
	}
}

func (m *messages) begin(s *stream) {
	if !m.started {
		m.started = true
		m.event(s, "message_start", obj{"message": m.message([]obj{}, nil, usage{input: 1})})
		m.event(s, "ping", obj{})
	}
}

// openBlock opens a block of the given kind unless one is open. Text and thinking continue the open
// block.
func (m *messages) openBlock(s *stream, kind string, start obj) {
	m.begin(s)
	if m.open == kind && kind != "tool_use" {
		return
	}
	m.closeBlock(s)
	m.open = kind
	start["type"] = kind
	m.event(s, "content_block_start", obj{"index": m.index, "content_block": start})
}

func (m *messages) closeBlock(s *stream) {
	if m.open == "" {
		return
	}
	if m.open == "thinking" {
		m.delta(s, obj{"type": "signature_delta", "signature": "fake"})
	}
	m.event(s, "content_block_stop", obj{"index": m.index})
	m.open = ""
	m.index++
}

func (m *messages) delta(s *stream, d obj) {
	m.event(s, "content_block_delta", obj{"index": m.index, "delta": d})
}

func (m *messages) emit(s *stream, p part) {
	switch {
	case p.call != nil:
		m.openBlock(s, "tool_use", obj{"id": p.call.id, "name": p.call.name, "input": obj{}})
		m.delta(s, obj{"type": "input_json_delta", "partial_json": string(p.call.args)})
	case p.thought != "":
		m.openBlock(s, "thinking", obj{"thinking": "", "signature": ""})
		m.delta(s, obj{"type": "thinking_delta", "thinking": p.thought})
	default:
		m.openBlock(s, "text", obj{"text": ""})
		m.delta(s, obj{"type": "text_delta", "text": p.text})
	}
}

func (m *messages) end(s *stream, stop Stop, u usage) {
	m.begin(s)
	m.closeBlock(s)
	m.event(s, "message_delta", obj{
		"delta": obj{"stop_reason": messagesStop(stop), "stop_sequence": nil},
		"usage": messagesUsage(u),
	})
	m.event(s, "message_stop", obj{})
}

func (m *messages) complete(parts []part, stop Stop, u usage) any {
	content := []obj{}
	for _, p := range parts {
		switch {
		case p.call != nil:
			content = append(content, obj{
				"type": "tool_use", "id": p.call.id, "name": p.call.name,
				"input": p.call.args,
			})
		case p.thought != "":
			content = append(content, obj{"type": "thinking", "thinking": p.thought, "signature": "fake"})
		default:
			content = append(content, obj{"type": "text", "text": p.text})
		}
	}
	return m.message(content, messagesStop(stop), u)
}

// messagesUsage encodes tokens. Cached ones are not part of input_tokens.
func messagesUsage(u usage) obj {
	return obj{
		"input_tokens": u.input - u.cached, "output_tokens": u.output, "cache_read_input_tokens": u.cached,
		"cache_creation_input_tokens": 0,
	}
}

func (m *messages) errorBody(status int, message string) any {
	kind := "api_error"
	switch status {
	case 401:
		kind = "authentication_error"
	case 429:
		kind = "rate_limit_error"
	case 529:
		kind = "overloaded_error"
	}
	return obj{"type": "error", "error": obj{"type": kind, "message": message}}
}

func messagesStop(s Stop) string {
	return [...]string{
		StopEnd: "end_turn", StopTool: "tool_use", StopMaxTokens: "max_tokens",
		StopRefusal: "refusal",
	}[s]
}

package fakemodel

import (
	"encoding/json"
	"fmt"
)

type chat struct {
	numbered
	model string
	calls int
	usage bool // the request asked for a usage chunk
}

func decodeChat(body []byte) (Request, encoder, error) {
	var in struct {
		Model    string
		Stream   bool
		Messages []struct {
			Role      string
			Content   json.RawMessage
			ToolCalls []struct {
				Function struct{ Name string }
			} `json:"tool_calls"`
		}
		Tools []struct {
			Function struct{ Name string }
		}
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, nil, fmt.Errorf("decode chat request: %w", err)
	}
	req := Request{API: Chat, Model: in.Model, Stream: in.Stream}
	for _, t := range in.Tools {
		req.Tools = append(req.Tools, t.Function.Name)
	}
	for _, m := range in.Messages {
		switch m.Role {
		case "system", "developer":
			req.System += texts(m.Content)
		default:
			req.add(Message{Role: m.Role, Text: texts(m.Content)})
		}
		for _, c := range m.ToolCalls {
			req.add(Message{Role: Assistant, Call: c.Function.Name})
		}
	}
	return req, &chat{model: in.Model, usage: in.StreamOptions.IncludeUsage}, nil
}

func (c *chat) chunk(choices []obj) obj {
	return obj{
		"id": c.id("chatcmpl"), "object": "chat.completion.chunk", "created": 1, "model": c.model,
		"choices": choices,
	}
}

func (c *chat) delta(d obj, finish any) obj {
	return c.chunk([]obj{{"index": 0, "delta": d, "finish_reason": finish}})
}

func (c *chat) emit(s *stream, p part) {
	switch {
	case p.call != nil:
		t := chatCall(p.call)
		t["index"] = c.calls
		c.calls++
		s.event("", c.delta(obj{"role": "assistant", "tool_calls": []obj{t}}, nil))
	case p.thought != "":
		s.event("", c.delta(obj{"role": "assistant", "reasoning_content": p.thought}, nil))
	default:
		s.event("", c.delta(obj{"role": "assistant", "content": p.text}, nil))
	}
}

func (c *chat) end(s *stream, stop Stop, u usage) {
	s.event("", c.delta(obj{}, chatStop(stop)))
	if c.usage {
		last := c.chunk([]obj{})
		last["usage"] = chatUsage(u)
		s.event("", last)
	}
	s.writeData("", []byte("[DONE]"))
}

func (c *chat) complete(parts []part, stop Stop, u usage) any {
	var text, thought string
	var calls []obj
	for _, p := range parts {
		text += p.text
		thought += p.thought
		if p.call != nil {
			calls = append(calls, chatCall(p.call))
		}
	}
	m := obj{"role": "assistant", "content": text}
	if thought != "" {
		m["reasoning_content"] = thought
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	return obj{
		"id": c.id("chatcmpl"), "object": "chat.completion", "created": 1, "model": c.model, "usage": chatUsage(u),
		"choices": []obj{{"index": 0, "message": m, "finish_reason": chatStop(stop)}},
	}
}

func (c *chat) errorBody(status int, message string) any { return openAIError(status, message) }

func openAIError(status int, message string) any {
	return obj{"error": obj{"message": message, "type": "fake_error", "code": fmt.Sprint(status)}}
}

func chatCall(c *call) obj {
	return obj{"id": c.id, "type": "function", "function": obj{"name": c.name, "arguments": string(c.args)}}
}

func chatStop(s Stop) string {
	return [...]string{
		StopEnd: "stop", StopTool: "tool_calls", StopMaxTokens: "length",
		StopRefusal: "content_filter",
	}[s]
}

func chatUsage(u usage) obj {
	return obj{
		"prompt_tokens": u.input, "completion_tokens": u.output, "total_tokens": u.input + u.output,
		"prompt_tokens_details": obj{"cached_tokens": u.cached},
	}
}

package chat

import (
	"encoding/json"

	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/transport"
)

type object = map[string]any

// encode encodes a request.
func encode(m *transport.Model, r *model.Request) object {
	body := object{
		"model": m.Name(), "stream": true, "stream_options": object{"include_usage": true},
		"messages": messages(r.System, r.Messages, m.Origin()),
	}
	if r.MaxOut > 0 {
		body["max_tokens"] = r.MaxOut
	}
	if r.Effort != "" {
		body["reasoning_effort"] = r.Effort
	}
	if len(r.Tools) == 0 {
		return body
	}
	var tools []object
	for _, t := range r.Tools {
		tools = append(tools, object{
			"type": "function", "function": object{"name": t.Name, "description": t.About, "parameters": t.Schema},
		})
	}
	body["tools"] = tools
	if r.NoCalls {
		body["tool_choice"] = "none"
	}
	return body
}

// messages encodes a conversation.
func messages(system string, all []model.Message, origin string) []object {
	list := []object{}
	if system != "" {
		list = append(list, object{"role": "system", "content": system})
	}
	for _, in := range all {
		if in.Role == model.Assistant {
			if out := assistant(&in, origin); out != nil {
				list = append(list, out)
			}
			continue
		}
		list = append(list, user(&in)...)
	}
	return list
}

// assistant encodes a message of the model, with the reasoning in the field in which it came. It
// returns nil for a message without content.
func assistant(in *model.Message, origin string) object {
	out := object{"role": "assistant", "content": in.Text()}
	var calls []object
	for _, p := range in.Parts {
		switch {
		case p.Type == model.ToolCall:
			calls = append(calls, object{
				"id": p.Call.ID, "type": "function",
				"function": object{"name": p.Call.Name, "arguments": string(p.Call.Input)},
			})
		case p.Raw != nil && in.Origin == origin:
			var fields map[string]json.RawMessage
			if json.Unmarshal(p.Raw, &fields) == nil {
				for name, value := range fields {
					out[name] = value
				}
			}
		}
	}
	if calls != nil {
		out["tool_calls"] = calls
	}
	if calls == nil && in.Text() == "" {
		return nil
	}
	return out
}

// user encodes a user message: results first, each as a separate message. Files of results follow
// in the user message, since results hold only text.
func user(in *model.Message) (list []object) {
	var content []object
	var texts string
	plain := true
	add := func(f *model.File) {
		if f.Data == nil {
			content = append(content, object{"type": "text", "text": f.Described()})
			return
		}
		plain = false
		if f.IsImage() {
			content = append(content, object{"type": "image_url", "image_url": object{"url": f.DataURL()}})
			return
		}
		content = append(content, object{
			"type": "file", "file": object{"filename": f.Name, "file_data": f.DataURL()},
		})
	}
	for _, p := range in.Parts {
		switch p.Type {
		case model.ToolResult:
			list = append(list, object{"role": "tool", "tool_call_id": p.Result.ID, "content": p.Result.Text})
			for _, f := range p.Result.Files {
				add(&f)
			}
		case model.Text:
			content = append(content, object{"type": "text", "text": p.Text})
		case model.FilePart:
			add(p.File)
		}
	}
	if content == nil {
		return list
	}
	if !plain {
		return append(list, object{"role": "user", "content": content})
	}
	for i, c := range content { // servers without images take a text only
		if i > 0 {
			texts += "\n\n"
		}
		texts += c["text"].(string)
	}
	return append(list, object{"role": "user", "content": texts})
}

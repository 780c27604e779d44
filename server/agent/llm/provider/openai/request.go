package openai

import (
	"encoding/json"
	"regexp"
	"sync"

	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/transport"
)

type object = map[string]any

// reasons matches the models that reason. Others refuse settings of reasoning.
var reasons = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(gpt-[5-9]|o[1-9]|codex|computer-use)`)
})

// encode encodes a request.
func encode(m *transport.Model, r *model.Request) object {
	body := object{
		"model": m.Name(), "stream": true, "store": false, "include": []string{"reasoning.encrypted_content"},
		"input": items(r.Messages, m.Origin()),
	}
	if r.System != "" {
		body["instructions"] = r.System
	}
	if r.CacheKey != "" {
		body["prompt_cache_key"] = r.CacheKey
	}
	if r.MaxOut > 0 {
		body["max_output_tokens"] = r.MaxOut
	}
	if r.Effort != "" {
		body["reasoning"] = object{"effort": r.Effort, "summary": "auto"}
	} else if reasons().MatchString(m.Name()) {
		body["reasoning"] = object{"summary": "auto"}
	}
	if len(r.Tools) == 0 {
		return body
	}
	tools := make([]object, len(r.Tools))
	for i, t := range r.Tools {
		tools[i] = object{"type": "function", "name": t.Name, "parameters": t.Schema, "strict": false}
		if t.About != "" {
			tools[i]["description"] = t.About
		}
	}
	body["tools"] = tools
	if r.NoCalls {
		body["tool_choice"] = "none"
	}
	return body
}

// items encodes a conversation as input items.
func items(messages []model.Message, origin string) (items []any) {
	for _, message := range model.WithCallIDs(messages, origin) {
		var content []object // of a message of the user
		for _, p := range message.Parts {
			switch {
			case p.Raw != nil && message.Origin == origin:
				items = append(items, withoutID(p.Raw))
			case p.Type == model.Text && message.Role == model.Assistant:
				items = append(items, object{
					"type": "message", "role": "assistant",
					"content": []object{{"type": "output_text", "text": p.Text}},
				})
			case p.Type == model.Text:
				content = append(content, object{"type": "input_text", "text": p.Text})
			case p.Type == model.FilePart:
				content = append(content, inputFile(p.File))
			case p.Type == model.ToolCall:
				items = append(items, object{
					"type": "function_call", "call_id": p.Call.ID, "name": p.Call.Name,
					"arguments": string(p.Call.Input),
				})
			case p.Type == model.ToolResult:
				items = append(items, object{
					"type": "function_call_output", "call_id": p.Result.ID, "output": output(p.Result),
				})
			}
		}
		if content != nil {
			items = append(items, object{"type": "message", "role": "user", "content": content})
		}
	}
	return items
}

// withoutID removes the id of an item: nothing is stored under it.
func withoutID(raw json.RawMessage) (item map[string]json.RawMessage) {
	_ = json.Unmarshal(raw, &item) // of another form, it is refused by the provider
	delete(item, "id")
	return item
}

func inputFile(f *model.File) object {
	switch {
	case f.Data == nil:
		return object{"type": "input_text", "text": f.Described()}
	case f.IsImage():
		return object{"type": "input_image", "image_url": f.DataURL()}
	}
	return object{"type": "input_file", "filename": f.Name, "file_data": f.DataURL()}
}

// output returns the output of a call: its text, or a list with its files.
func output(r *model.Result) any {
	if len(r.Files) == 0 {
		return r.Text
	}
	list := []object{}
	if r.Text != "" {
		list = append(list, object{"type": "input_text", "text": r.Text})
	}
	for _, f := range r.Files {
		list = append(list, inputFile(&f))
	}
	return list
}

package openai

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"sync"

	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"agentctl/server/agent/llm/model"
)

type object = map[string]any

// reasons matches the models that reason. Others refuse settings of reasoning.
var reasons = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(gpt-[5-9]|o[1-9]|codex|computer-use)`) })

// encode encodes a request.
func (m *Model) encode(r *model.Request) (responses.ResponseNewParams, error) {
	p := responses.ResponseNewParams{
		Model:   m.name,
		Store:   param.NewOpt(false),
		Include: []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent},
	}
	if r.System != "" {
		p.Instructions = param.NewOpt(r.System)
	}
	if r.CacheKey != "" {
		p.PromptCacheKey = param.NewOpt(r.CacheKey)
	}
	if r.MaxOut > 0 {
		p.MaxOutputTokens = param.NewOpt(r.MaxOut)
	}
	if r.Effort != "" || reasons().MatchString(m.name) {
		p.Reasoning = shared.ReasoningParam{
			Effort: shared.ReasoningEffort(r.Effort), Summary: shared.ReasoningSummaryAuto,
		}
	}
	for _, t := range r.Tools {
		var schema map[string]any
		if err := json.Unmarshal(t.Schema, &schema); err != nil {
			return p, fmt.Errorf("schema of tool %s: %w", t.Name, err)
		}
		f := responses.FunctionToolParam{Name: t.Name, Parameters: schema, Strict: param.NewOpt(false)}
		if t.About != "" {
			f.Description = param.NewOpt(t.About)
		}
		p.Tools = append(p.Tools, responses.ToolUnionParam{OfFunction: &f})
	}
	if r.NoCalls && len(r.Tools) > 0 {
		p.ToolChoice.OfToolChoiceMode = param.NewOpt(responses.ToolChoiceOptionsNone)
	}
	items, err := m.items(r.Messages)
	if err != nil {
		return p, err
	}
	for _, raw := range items {
		p.Input.OfInputItemList = append(p.Input.OfInputItemList,
			param.Override[responses.ResponseInputItemUnionParam](raw))
	}
	return p, nil
}

// items encodes a conversation as input items.
func (m *Model) items(messages []model.Message) (items []json.RawMessage, err error) {
	add := func(item any) {
		raw, failed := json.Marshal(item)
		if failed != nil && err == nil {
			err = fmt.Errorf("encode input: %w", failed)
		}
		items = append(items, raw)
	}
	for _, message := range model.WithCallIDs(messages, m.origin) {
		var content []object // of a message of the user
		for _, p := range message.Parts {
			switch {
			case p.Raw != nil && message.Origin == m.origin:
				raw, failed := withoutID(p.Raw)
				if failed != nil {
					return nil, failed
				}
				items = append(items, raw)
			case p.Type == model.Text && message.Role == model.Assistant:
				add(object{
					"type": "message", "role": "assistant",
					"content": []object{{"type": "output_text", "text": p.Text}},
				})
			case p.Type == model.Text:
				content = append(content, object{"type": "input_text", "text": p.Text})
			case p.Type == model.FilePart:
				content = append(content, inputFile(p.File))
			case p.Type == model.ToolCall:
				add(object{
					"type": "function_call", "call_id": p.Call.ID, "name": p.Call.Name,
					"arguments": string(p.Call.Input),
				})
			case p.Type == model.ToolResult:
				add(object{"type": "function_call_output", "call_id": p.Result.ID, "output": output(p.Result)})
			}
		}
		if content != nil {
			add(object{"type": "message", "role": "user", "content": content})
		}
	}
	return items, err
}

// withoutID removes the id of an item: nothing is stored under it.
func withoutID(raw json.RawMessage) (json.RawMessage, error) {
	var item map[string]json.RawMessage
	if err := json.Unmarshal(raw, &item); err != nil {
		return nil, fmt.Errorf("stored item: %w", err)
	}
	delete(item, "id")
	b, err := json.Marshal(item)
	if err != nil {
		return nil, fmt.Errorf("stored item: %w", err)
	}
	return b, nil
}

func inputFile(f *model.File) object {
	switch {
	case f.Data == nil:
		return object{"type": "input_text", "text": f.Described()}
	case f.IsImage():
		return object{"type": "input_image", "image_url": dataURL(f)}
	}
	return object{"type": "input_file", "filename": f.Name, "file_data": dataURL(f)}
}

func dataURL(f *model.File) string {
	return "data:" + f.MediaType + ";base64," + base64.StdEncoding.EncodeToString(f.Data)
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

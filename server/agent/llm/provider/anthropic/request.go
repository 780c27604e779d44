package anthropic

import (
	"cmp"
	"regexp"
	"strings"
	"sync"

	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/transport"
)

type object = map[string]any

// cached marks what the provider caches, with all before it.
var cached = object{"type": "ephemeral"}

// defaultMaxOut is the limit of a response, which the API wants.
const defaultMaxOut = 32_000

// budgets are the tokens of thinking of models that do not choose them.
var budgets = map[string]int64{"low": 2048, "medium": 8192, "high": 16384}

// fixedThinking matches the models whose thinking has a fixed budget.
var fixedThinking = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^claude-(3|(opus|sonnet|haiku)-4(-[0-5])?(-20|$))`)
})

// encode encodes a request.
func encode(m *transport.Model, r *model.Request) object {
	most := cmp.Or(r.MaxOut, defaultMaxOut)
	messages := messages(r.Messages, m.Origin())
	mark(messages)
	body := object{"model": m.Name(), "stream": true, "max_tokens": most, "messages": messages}
	if r.System != "" {
		body["system"] = []object{{"type": "text", "text": r.System, "cache_control": cached}}
	}
	if r.Effort != "" && r.Effort != "none" {
		if budget := budgets[r.Effort]; budget > 0 && fixedThinking().MatchString(m.Name()) {
			body["thinking"] = object{"type": "enabled", "budget_tokens": min(budget, most-1)}
		} else {
			body["thinking"] = object{"type": "adaptive", "display": "summarized"}
			body["output_config"] = object{"effort": r.Effort}
		}
	}
	if len(r.Tools) == 0 {
		return body
	}
	tools := make([]object, len(r.Tools))
	for i, t := range r.Tools {
		tools[i] = object{"name": t.Name, "description": t.About, "input_schema": t.Schema}
	}
	body["tools"] = tools
	if r.NoCalls {
		body["tool_choice"] = object{"type": "none"}
	}
	return body
}

// A message is an encoded message. Its blocks are objects, or JSON as the provider sent it.
type message struct {
	Role   model.Role `json:"role"`
	Blocks []any      `json:"content"`
}

// messages encodes a conversation. Messages of the same role are joined.
func messages(all []model.Message, origin string) []message {
	var list []message
	for _, in := range model.WithCallIDs(all, origin) {
		var results, blocks []any
		for _, p := range in.Parts {
			switch {
			case p.Raw != nil && in.Origin == origin:
				blocks = append(blocks, p.Raw)
			case p.Type == model.Text && strings.TrimSpace(p.Text) != "": // others are refused
				blocks = append(blocks, object{"type": "text", "text": p.Text})
			case p.Type == model.FilePart:
				blocks = append(blocks, file(p.File))
			case p.Type == model.ToolCall:
				blocks = append(blocks, object{
					"type": "tool_use", "id": p.Call.ID, "name": p.Call.Name, "input": p.Call.Input,
				})
			case p.Type == model.ToolResult:
				results = append(results, result(p.Result))
			}
		}
		blocks = append(results, blocks...)
		if len(blocks) == 0 {
			continue
		}
		if n := len(list); n > 0 && list[n-1].Role == in.Role {
			list[n-1].Blocks = append(list[n-1].Blocks, blocks...)
			continue
		}
		list = append(list, message{in.Role, blocks})
	}
	return list
}

// mark sets the marks of the cache: at the end of the last two messages of the user, so that the
// next request finds the entry that this one wrote. The mark of the system prompt covers the tools.
func mark(messages []message) {
	left := 2
	for i := len(messages) - 1; i >= 0 && left > 0; i-- {
		if messages[i].Role != model.User {
			continue
		}
		last, ok := messages[i].Blocks[len(messages[i].Blocks)-1].(object)
		if ok {
			last["cache_control"] = cached
			left--
		}
	}
}

func file(f *model.File) object {
	switch {
	case f.Data == nil:
		return object{"type": "text", "text": f.Described()}
	case f.IsImage():
		return object{"type": "image", "source": source(f)}
	}
	return object{"type": "document", "title": f.Name, "source": source(f)}
}

func source(f *model.File) object {
	return object{"type": "base64", "media_type": f.MediaType, "data": f.Data}
}

func result(r *model.Result) object {
	content := []object{}
	if r.Text != "" {
		content = append(content, object{"type": "text", "text": r.Text})
	}
	for _, f := range r.Files {
		content = append(content, file(&f))
	}
	return object{"type": "tool_result", "tool_use_id": r.ID, "content": content, "is_error": r.Error}
}

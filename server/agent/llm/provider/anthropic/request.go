package anthropic

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"agentctl/server/agent/llm/model"
)

type object = map[string]any

// defaultMaxOut is the limit of a response, which the API wants.
const defaultMaxOut = 32_000

// budgets are the tokens of thinking of models that do not choose them.
var budgets = map[string]int64{"low": 2048, "medium": 8192, "high": 16384}

// fixedThinking matches the models whose thinking has a fixed budget.
var fixedThinking = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^claude-(3|(opus|sonnet|haiku)-4(-[0-5])?(-20|$))`)
})

// encode encodes a request.
func (m *Model) encode(r *model.Request) (anthropic.MessageNewParams, error) {
	p := anthropic.MessageNewParams{Model: m.name, MaxTokens: defaultMaxOut}
	if r.MaxOut > 0 {
		p.MaxTokens = r.MaxOut
	}
	if r.System != "" {
		p.System = []anthropic.TextBlockParam{{
			Text: r.System, CacheControl: anthropic.NewCacheControlEphemeralParam(),
		}}
	}
	if r.Effort != "" && r.Effort != "none" {
		if budget := budgets[r.Effort]; budget > 0 && fixedThinking().MatchString(m.name) {
			p.Thinking = anthropic.ThinkingConfigParamOfEnabled(min(budget, p.MaxTokens-1))
		} else {
			p.Thinking.OfAdaptive = &anthropic.ThinkingConfigAdaptiveParam{
				Display: anthropic.ThinkingConfigAdaptiveDisplaySummarized,
			}
			p.OutputConfig.Effort = anthropic.OutputConfigEffort(r.Effort)
		}
	}
	for _, t := range r.Tools {
		raw, err := json.Marshal(object{"name": t.Name, "description": t.About, "input_schema": t.Schema})
		if err != nil {
			return p, fmt.Errorf("schema of tool %s: %w", t.Name, err)
		}
		p.Tools = append(p.Tools, param.Override[anthropic.ToolUnionParam](json.RawMessage(raw)))
	}
	if r.NoCalls && len(r.Tools) > 0 {
		p.ToolChoice.OfNone = &anthropic.ToolChoiceNoneParam{}
	}
	messages := m.messages(r.Messages)
	mark(messages)
	for _, message := range messages {
		raw, err := json.Marshal(object{"role": message.role, "content": message.blocks})
		if err != nil {
			return p, fmt.Errorf("encode message: %w", err)
		}
		p.Messages = append(p.Messages, param.Override[anthropic.MessageParam](json.RawMessage(raw)))
	}
	return p, nil
}

// A message is an encoded message. Its blocks are objects, or JSON as the provider sent it.
type message struct {
	role   model.Role
	blocks []any
}

// messages encodes a conversation. Messages of the same role are joined.
func (m *Model) messages(all []model.Message) []message {
	var list []message
	for _, in := range model.WithCallIDs(all, m.origin) {
		var results, blocks []any
		for _, p := range in.Parts {
			switch {
			case p.Raw != nil && in.Origin == m.origin:
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
		if n := len(list); n > 0 && list[n-1].role == in.Role {
			list[n-1].blocks = append(list[n-1].blocks, blocks...)
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
		if messages[i].role != model.User {
			continue
		}
		last, ok := messages[i].blocks[len(messages[i].blocks)-1].(object)
		if ok {
			last["cache_control"] = object{"type": "ephemeral"}
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

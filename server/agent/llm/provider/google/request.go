package google

import (
	"regexp"
	"sync"

	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/transport"
)

type object = map[string]any

// foreign is the signature of calls that another model made. Models of version 3 want one.
const foreign = "skip_thought_signature_validator"

var (
	thinks   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^gemini-(2\.5|[3-9])`) })
	budgeted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^gemini-2\.5`) })
	budgets  = map[string]int{"low": 1024, "medium": 8192, "high": 24576}
)

// encode encodes a request.
func encode(m *transport.Model, r *model.Request) object {
	body := object{"contents": contents(r.Messages, m.Origin())}
	if r.System != "" {
		body["systemInstruction"] = object{"parts": []object{{"text": r.System}}}
	}
	config := object{}
	if r.MaxOut > 0 {
		config["maxOutputTokens"] = r.MaxOut
	}
	if thinks().MatchString(m.Name()) {
		thinking := object{"includeThoughts": true}
		switch {
		case r.Effort == "":
		case budgeted().MatchString(m.Name()):
			thinking["thinkingBudget"] = budgets[r.Effort]
		default:
			thinking["thinkingLevel"] = r.Effort
		}
		config["thinkingConfig"] = thinking
	}
	if len(config) > 0 {
		body["generationConfig"] = config
	}
	if len(r.Tools) == 0 {
		return body
	}
	var functions []object
	for _, t := range r.Tools {
		functions = append(functions, object{
			"name": t.Name, "description": t.About, "parametersJsonSchema": t.Schema,
		})
	}
	body["tools"] = []object{{"functionDeclarations": functions}}
	if r.NoCalls {
		body["toolConfig"] = object{"functionCallingConfig": object{"mode": "NONE"}}
	}
	return body
}

// contents encodes a conversation. Messages of the same role are joined.
func contents(messages []model.Message, origin string) []object {
	list := []object{}
	for _, message := range messages {
		parts := partsOf(&message, origin)
		if len(parts) == 0 {
			continue
		}
		role := "user"
		if message.Role == model.Assistant {
			role = "model"
		}
		if n := len(list); n > 0 && list[n-1]["role"] == role {
			list[n-1]["parts"] = append(list[n-1]["parts"].([]any), parts...)
			continue
		}
		list = append(list, object{"role": role, "parts": parts})
	}
	return list
}

// partsOf encodes the parts of a message.
func partsOf(message *model.Message, origin string) (parts []any) {
	calls := 0
	for _, p := range message.Parts {
		if p.Type == model.ToolCall {
			calls++
		}
		switch {
		case p.Raw != nil && message.Origin == origin:
			parts = append(parts, p.Raw)
		case p.Type == model.Text:
			parts = append(parts, object{"text": p.Text})
		case p.Type == model.FilePart:
			parts = append(parts, file(p.File))
		case p.Type == model.ToolCall:
			call := object{"functionCall": object{"name": p.Call.Name, "args": p.Call.Input}}
			if calls == 1 {
				call["thoughtSignature"] = foreign
			}
			parts = append(parts, call)
		case p.Type == model.ToolResult:
			parts = append(parts, result(p.Result)...)
		}
	}
	return parts
}

func file(f *model.File) object {
	if f.Data == nil {
		return object{"text": f.Described()}
	}
	return object{"inlineData": object{"mimeType": f.MediaType, "data": f.Data}}
}

// result encodes the result of a call, followed by its files. Ids that this package made are left
// out.
func result(r *model.Result) []any {
	field := "output"
	if r.Error {
		field = "error"
	}
	response := object{"name": r.Name, "response": object{field: r.Text}}
	if !madeID().MatchString(r.ID) {
		response["id"] = r.ID
	}
	parts := []any{object{"functionResponse": response}}
	for _, f := range r.Files {
		parts = append(parts, file(&f))
	}
	return parts
}

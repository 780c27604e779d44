package tool

import (
	"encoding/json"
	"maps"
	"slices"

	"agentctl/server/agent/llm"
)

// arguments decodes the arguments of a call of a tool.
func arguments[T any](c *llm.ToolCall, t llm.Tool) (in T, err error) {
	err = c.Decode(t.Spec(), &in)
	return in, err
}

// fields are the arguments of a tool with their schemas.
type fields map[string]map[string]any

func textField(about string) map[string]any {
	return map[string]any{"type": "string", "description": about}
}

func numberField(about string) map[string]any {
	return map[string]any{"type": "integer", "minimum": 1, "description": about}
}

func flagField(about string) map[string]any {
	return map[string]any{"type": "boolean", "description": about}
}

// schema returns the JSON Schema of an object in which all fields except the optional ones are
// required.
func schema(all fields, optional ...string) json.RawMessage {
	required := slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(name string) bool {
		return slices.Contains(optional, name)
	})
	b, err := json.Marshal(map[string]any{
		"type": "object", "properties": all, "required": required, "additionalProperties": false,
	})
	if err != nil {
		panic(err) // only constants are in it
	}
	return b
}

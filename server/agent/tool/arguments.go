package tool

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"agentctl/protocol"
	"agentctl/server/agent/llm"
)

// arguments decodes the arguments of a call. It refuses ambiguous ones, and unknown ones, so that a
// model learns of a misspelling.
func arguments[T any](c *llm.ToolCall) (in T, err error) {
	if err := protocol.DecodeStrict(c.Input, &in); err != nil {
		return in, fmt.Errorf("invalid arguments: %w", err)
	}
	return in, nil
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

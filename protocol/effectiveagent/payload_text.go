package effectiveagent

import (
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// payloadText returns the text of a payload: a string itself, of an object its text or content, of all else the JSON. plain tells
// whether the text is all there is.
func payloadText(payload json.RawMessage) (text string, plain bool) {
	if json.Unmarshal(payload, &text) == nil && !codec.IsNull(payload) {
		return text, true
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(payload, &fields) == nil {
		for _, name := range []string{"text", "content"} {
			if json.Unmarshal(fields[name], &text) == nil && !codec.IsNull(fields[name]) {
				return text, len(fields) == 1
			}
		}
	}
	if codec.IsNull(payload) {
		return "", false
	}
	compact, _ := protocol.Compact(payload)
	return string(compact), false
}

// hasText reports whether a payload has a text of its own, and is not only readable as JSON.
func hasText(payload json.RawMessage) bool {
	text, plain := payloadText(payload)
	if plain {
		return true
	}
	compact, _ := protocol.Compact(payload)
	return text != "" && text != string(compact)
}

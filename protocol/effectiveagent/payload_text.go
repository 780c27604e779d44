package effectiveagent

import (
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// payloadText returns the text of a payload: a string, the text or content of an object, or the
// JSON of anything else. plain reports whether the text is the whole payload.
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

// fieldText returns the first of an object's named fields that is a text. plain reports whether it
// is the only field.
func fieldText(payload json.RawMessage, names ...string) (text string, plain bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(payload, &fields) != nil {
		return "", false
	}
	for _, name := range names {
		if text = codec.String(fields[name]); text != "" {
			return text, len(fields) == 1
		}
	}
	return "", false
}

// hasText reports whether a payload has a text other than its JSON.
func hasText(payload json.RawMessage) bool {
	text, plain := payloadText(payload)
	if plain {
		return true
	}
	compact, _ := protocol.Compact(payload)
	return text != "" && text != string(compact)
}

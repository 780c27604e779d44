package codec

import (
	"bytes"
	"encoding/json"

	"agentctl/protocol"
)

// maxDepth bounds the nesting of foreign JSON that is kept as JSON. The event around it nests
// deeper, and must decode.
const maxDepth = 128

// Shallow reports whether JSON nests at most maxDepth levels. It counts brackets and does not
// validate.
func Shallow(data []byte) bool { return nestsWithin(maxDepth, data) }

// nestsWithin reports whether JSON nests at most most levels.
func nestsWithin(most int, data []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > most {
				return false
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return true
}

// maxRaw bounds a foreign message that is kept whole, in bytes. Escaped as a string, it fits an
// event.
const maxRaw = protocol.MaxText

// Raw returns the data of a raw event for a foreign message without an equivalent: the message as
// JSON, else as a string; of a message over maxRaw, its size only.
func Raw(source, method string, message []byte) protocol.RawData {
	d := protocol.RawData{Source: source, Method: protocol.SplitText(method, 128)[0]}
	compact, ok := protocol.Compact(message)
	switch {
	case ok && len(compact) <= protocol.MaxEvent/2 && Shallow(compact):
		d.Data = compact
	case len(message) <= maxRaw:
		d.Data = json.RawMessage(protocol.AppendString(nil, string(message)))
	default:
		d.Bytes = int64(len(message))
	}
	return d
}

// RawEntry returns the event of a foreign message without an equivalent. turn may be empty.
func RawEntry(source, turn, method string, message []byte) Entry {
	return Entry{Type: protocol.Raw, Turn: turn, Data: Raw(source, method, message)}
}

// String decodes a JSON string; of any other JSON it returns "".
func String(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s)
	return s
}

// IsNull reports whether JSON is absent or null.
func IsNull(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}

// maxExcerpt bounds an excerpt, in bytes.
const maxExcerpt = 80

// Excerpt returns the beginning of a peer's text as valid UTF-8, to quote in an error.
func Excerpt(s string) string { return Truncate(s, maxExcerpt) }

// Truncate returns at most limit bytes of a text, as valid UTF-8 if it was cut. limit is at least
// utf8.UTFMax.
func Truncate(s string, limit int) string {
	return protocol.SplitText(protocol.ValidText(s), limit)[0]
}

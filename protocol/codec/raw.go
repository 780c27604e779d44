package codec

import (
	"encoding/json"

	"agentctl/protocol"
)

// maxDepth bounds the nesting of foreign JSON that is kept as JSON: what holds it nests deeper yet, and has to be decoded.
const maxDepth = 128

// Shallow reports whether JSON nests so little that it can be kept as it is. It looks at brackets alone.
func Shallow(data []byte) bool { return within(maxDepth, data) }

// within reports whether JSON nests at most so deep.
func within(most int, data []byte) bool {
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

// maxRaw bounds a foreign message that is kept whole, in bytes: escaped as a string it still fits an event.
const maxRaw = protocol.MaxText

// Raw is a foreign message that maps to nothing, to be kept: as JSON, else as a string, and of a larger one the size alone.
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

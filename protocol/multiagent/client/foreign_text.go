package client

import (
	"bytes"
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// maxData bounds foreign JSON in an event, in bytes.
const maxData = 96 << 10

// fitJSON returns foreign JSON that fits an event. JSON that is too large, too deep or invalid
// becomes a truncated string.
func fitJSON(data []byte) json.RawMessage {
	if len(data) == 0 {
		return nil
	}
	if compact, ok := protocol.Compact(data); ok && len(compact) <= maxData && codec.Shallow(compact) {
		return compact
	}
	return protocol.AppendString(nil, string(bytes.ToValidUTF8(data[:min(len(data), maxData/6)], nil)))
}

// clipText bounds a display text.
func clipText(s string) string {
	if len(s) <= 4<<10 {
		return s
	}
	return protocol.SplitText(s, 4<<10)[0]
}

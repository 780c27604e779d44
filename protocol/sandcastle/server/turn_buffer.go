package server

import (
	"encoding/json"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/sandcastle/wire"
)

// maxBuffer bounds the buffer of a turn, in bytes.
const maxBuffer = 8 << 20

// A turnBuffer holds the chat events of the current turn for later subscribers. Beyond its bound
// the oldest events lose their content but keep their place: clients reject a delta or result
// without its start.
type turnBuffer struct {
	events  []json.RawMessage // nil: omitted
	bytes   int
	trimmed int // number of leading events that are already trimmed
}

// add appends an event.
func (b *turnBuffer) add(raw json.RawMessage) {
	b.events = append(b.events, raw)
	b.bytes += len(raw)
	for b.bytes > maxBuffer && b.trimmed < len(b.events)-1 {
		old := b.events[b.trimmed]
		light := trimEvent(old)
		b.events[b.trimmed] = light
		b.bytes -= len(old) - len(light)
		b.trimmed++
	}
	for b.bytes > maxBuffer && len(b.events) > 1 { // only starts and ends are left
		b.bytes -= len(b.events[0])
		b.events = b.events[1:]
		b.trimmed = max(0, b.trimmed-1)
	}
}

// list returns the buffered events, never nil.
func (b *turnBuffer) list() []json.RawMessage {
	list := make([]json.RawMessage, 0, len(b.events))
	for _, raw := range b.events {
		if raw != nil {
			list = append(list, raw)
		}
	}
	return list
}

// trimEvent removes the content of a chat event that later events do not need. It returns nil if
// nothing is left.
func trimEvent(raw json.RawMessage) json.RawMessage {
	var e wire.ChatEvent
	if json.Unmarshal(raw, &e) != nil {
		return nil // not a chat event of this codec
	}
	switch {
	case strings.HasSuffix(e.Type, "-delta"), e.Type == wire.ChatNative, e.Type == wire.ChatToolOutput && e.Preliminary:
		return nil
	case e.Type == wire.ChatToolInput:
		e.Input = jsonNull
	case e.Type == wire.ChatToolOutput:
		e.Output = json.RawMessage(`""`)
	case e.Type == wire.ChatToolOutputError:
		e.ErrorText = new(string)
	default:
		return raw
	}
	return protocol.MustEncode(e)
}

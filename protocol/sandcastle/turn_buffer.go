package sandcastle

import (
	"encoding/json"
	"strings"

	"agentctl/protocol"
)

// maxBuffer bounds the buffer of a turn, in bytes.
const maxBuffer = 8 << 20

// A buffer holds the chat events of the turn under way, for who comes later. Beyond its bound the oldest lose what they say, but
// not their place: clients refuse a delta or a result whose beginning they have not seen.
type turnBuffer struct {
	events  []json.RawMessage // nil: left out
	bytes   int
	trimmed int // events before are as light as they can be
}

// add takes an event in.
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
	for b.bytes > maxBuffer && len(b.events) > 1 { // nothing but beginnings and ends
		b.bytes -= len(b.events[0])
		b.events = b.events[1:]
		b.trimmed = max(0, b.trimmed-1)
	}
}

// list is what the buffer holds, never nil.
func (b *turnBuffer) list() []json.RawMessage {
	list := make([]json.RawMessage, 0, len(b.events))
	for _, raw := range b.events {
		if raw != nil {
			list = append(list, raw)
		}
	}
	return list
}

// lighten takes out of a chat event what is not needed to understand those that follow; nil: all of it.
func trimEvent(raw json.RawMessage) json.RawMessage {
	var e chatEvent
	if json.Unmarshal(raw, &e) != nil {
		return nil // none of ours
	}
	switch {
	case strings.HasSuffix(e.Type, "-delta"), e.Type == chatNative, e.Type == chatToolOutput && e.Preliminary:
		return nil
	case e.Type == chatToolInput:
		e.Input = jsonNull
	case e.Type == chatToolOutput:
		e.Output = jsonNull
	case e.Type == chatToolOutputError:
		e.ErrorText = new(string)
	default:
		return raw
	}
	return protocol.MustEncode(e)
}

package wsclient

import (
	"bytes"
	"encoding/json"

	"agentctl/protocol"
)

// An incoming is one line of the server. Exactly one of event, answer and err is set.
type incoming struct {
	event  *protocol.Event
	answer *protocol.Answer
	raw    []byte

	err         error  // the line cannot be decoded
	id, session string // of an invalid line, if they could be read
}

// decode decodes the lines of a message, up to the first invalid line that is not an answer. The
// result refers to the message's bytes.
func (d *fastDecoder) decode(message []byte) []incoming {
	lines := make([]incoming, 0, bytes.Count(message, []byte{'\n'})+1)
	for raw := range protocol.Lines(message) {
		in := incoming{raw: raw, event: d.decodeEvent(raw)}
		if in.event == nil {
			in.decodeJSON()
		}
		lines = append(lines, in)
		if in.err != nil && in.id == "" {
			break
		}
	}
	return lines
}

// decodeJSON decodes any form of a line.
func (in *incoming) decodeJSON() {
	var err error
	if in.event, in.answer, err = protocol.DecodeIncoming(in.raw); err == nil {
		return
	}
	in.err = newDecodeError(in.raw, err)
	var partial struct{ ID, Session string }
	_ = json.Unmarshal(in.raw, &partial) // best effort
	in.id, in.session = partial.ID, partial.Session
}

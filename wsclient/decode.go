package wsclient

import (
	"bytes"
	"encoding/json"

	"agentctl/protocol"
)

// An incoming is one line of a server: an event, an answer, or one that cannot be decoded.
type incoming struct {
	event  *protocol.Event
	answer *protocol.Answer
	raw    []byte

	bad         error
	id, session string // of a bad line, where they can be read
}

// decode reads the lines of a message, up to the first bad one that is no command's answer. They keep the message's bytes.
func (q *quick) decode(message []byte) []incoming {
	lines := make([]incoming, 0, bytes.Count(message, []byte{'\n'})+1)
	for raw := range protocol.Lines(message) {
		in := incoming{raw: raw, event: q.event(raw)}
		if in.event == nil {
			in.slow()
		}
		lines = append(lines, in)
		if in.bad != nil && in.id == "" {
			break
		}
	}
	return lines
}

func (in *incoming) slow() {
	var err error
	if in.event, in.answer, err = protocol.DecodeIncoming(in.raw); err == nil {
		return
	}
	in.bad = newDecodeError(in.raw, err)
	var whose struct{ ID, Session string }
	_ = json.Unmarshal(in.raw, &whose) // as far as it goes
	in.id, in.session = whose.ID, whose.Session
}

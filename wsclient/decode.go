package wsclient

import (
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

// decode reads the lines of a message, up to and with the first bad one. They keep the message's bytes.
func decode(message []byte) []incoming {
	var lines []incoming
	for raw := range protocol.Lines(message) {
		in := incoming{raw: raw}
		var err error
		if in.event, in.answer, err = protocol.DecodeIncoming(raw); err != nil {
			in.bad = newDecodeError(raw, err)
			var whose struct{ ID, Session string }
			_ = json.Unmarshal(raw, &whose) // as far as it goes
			in.id, in.session = whose.ID, whose.Session
		}
		lines = append(lines, in)
		if in.bad != nil && in.id == "" {
			break
		}
	}
	return lines
}

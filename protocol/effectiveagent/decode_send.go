package effectiveagent

import (
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// sendMessage sends the client's message to the agent runtime that it names.
func (s *server) sendMessage(m *message) {
	id, ok := runtimeID(m.Target)
	if !ok {
		s.failField("targetAgentRuntimeId", "a string of 1 to 256 bytes")
		return
	}
	if codec.IsNull(m.Payload) {
		s.failField("payload", "an activity")
		return
	}
	a := decodeActivity(m.Payload)
	if s.Requests.Pending() >= maxWaiting {
		s.answerSend(id, &a, protocol.Answer{Error: codec.TooMany(maxWaiting)})
		return
	}
	s.form.update(&a)
	verb, key, data := decodeSend(&a)
	if data == nil {
		s.failField("payload", "an activity with content")
		return
	}
	s.Request(verb, id, key, data, func(r protocol.Answer) { s.answerSend(id, &a, r) })
}

// answerSend reports the result of a send to an agent runtime: to agentctl's client, whose activity
// has a note, in every case; to any other client only an error.
func (s *server) answerSend(id string, a *receivedActivity, r protocol.Answer) {
	if a.Note.Command == "" || a.ID == "" || len(a.ID) > maxID {
		if r.Error != nil {
			s.failSend(id, r.Error)
		}
		return
	}
	s.send(activityMessage{typeActivity, id, activity{
		Timestamp: s.form.encodeTime(s.Now), Type: s.form.typeName(kindStatus), Payload: json.RawMessage("null"),
		AgentRuntimeID: id, Metadata: &metadata{Note: &note{Answers: a.ID, Result: r.Result, Error: r.Error}},
	}})
}

func (s *server) failSend(id string, e *protocol.Error) {
	message := "AgentRuntimeService failed to process input for " + id + ": " + e.Message
	s.fail(encodeCode(e.Code, sendFailed), message, string(e.Code))
}

// decodeSend decodes the payload of a send: an activity with a payload, or only the payload. data
// is nil if it is empty.
func decodeSend(a *receivedActivity) (verb protocol.Verb, key string, data any) {
	words := a.raw
	switch {
	case a.unreadable:
	case !codec.IsNull(a.Payload):
		words = a.Payload
	case a.Type != "" && !hasText(a.raw): // an activity without a payload
		return "", "", nil
	}
	if len(a.Note.Key) <= 128 {
		key = a.Note.Key
	}
	if isCarried(a.Note.Command) {
		data := protocol.CommandOf(a.Note.Command).Data()
		if json.Unmarshal(words, data) == nil {
			return a.Note.Command, key, data
		}
	}
	var d protocol.SendData
	d.Text, _ = payloadText(words)
	if a.Note.Command == protocol.DoSend {
		var more struct{ Parts []protocol.Part }
		if json.Unmarshal(words, &more) == nil {
			d.Parts = more.Parts
		}
	}
	if d.Text == "" && len(d.Parts) == 0 {
		return "", "", nil
	}
	if len(a.ID) <= maxID {
		d.ClientMessageID = a.ID
	}
	return protocol.DoSend, key, d
}

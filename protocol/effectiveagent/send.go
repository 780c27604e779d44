package effectiveagent

import (
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// sendMessage routes what the client says to the agent runtime that it names.
func (s *server) sendMessage(m *message) {
	id, ok := runtimeID(m.Target)
	if !ok {
		s.invalid("targetAgentRuntimeId", "a string of 1 to 256 bytes")
		return
	}
	if codec.IsNull(m.Payload) {
		s.invalid("payload", "an activity")
		return
	}
	if s.Requests.Pending() >= maxWaiting {
		s.refuseSend(id, protocol.Errorf(protocol.CodeTooMany, "too many messages are on their way"))
		return
	}
	a := readActivity(m.Payload)
	s.form.learn(&a)
	verb, key, data := said(&a)
	if data == nil {
		s.invalid("payload", "an activity with something in it")
		return
	}
	s.Request(verb, id, key, data, func(a protocol.Answer) {
		if a.Error != nil {
			s.refuseSend(id, a.Error)
		}
	})
}

func (s *server) refuseSend(id string, e *protocol.Error) {
	message := "AgentRuntimeService failed to process input for " + id + ": " + e.Message
	s.fail(codeOf(e.Code, sendFailed), message, string(e.Code))
}

// said reads what a send carries: an activity with a payload, or where the client wraps nothing, the payload alone. data is nil
// when that says nothing.
func said(a *seen) (verb protocol.Verb, key string, data any) {
	words := a.whole
	switch {
	case a.unreadable:
	case !codec.IsNull(a.Payload):
		words = a.Payload
	case a.Type != "" && !spoken(a.whole): // an activity without a payload
		return "", "", nil
	}
	if len(a.Note.Key) <= 128 {
		key = a.Note.Key
	}
	if remote(a.Note.Command) {
		data := protocol.CommandOf(a.Note.Command).Data()
		if json.Unmarshal(words, data) == nil {
			return a.Note.Command, key, data
		}
	}
	var d protocol.SendData
	d.Text, _ = wordsOf(words)
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

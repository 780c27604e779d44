package effectiveagent

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// noteEventTypes holds the data of the event types that a note may name: all durable ones.
var noteEventTypes = func() map[protocol.Type]func() any {
	m := map[protocol.Type]func() any{}
	for _, t := range protocol.EventTypes {
		if !t.Ephemeral {
			m[t.Type] = t.New
		}
	}
	return m
}()

// handleNote records an activity of agentctl's server: the event that its note names.
func (s *session) handleNote(a *receivedActivity) {
	n := &a.Note
	if _, err := protocol.ParsePosition(a.ID); err == nil {
		s.position = a.ID
	}
	payload := a.Payload
	if codec.IsNull(payload) {
		payload = json.RawMessage("{}")
	}
	en := codec.Entry{
		Type: n.Event, Turn: s.alias.toLocal(n.Turn), Task: n.Task, Parent: n.Parent, By: n.By, Time: a.Time,
		Data: payload,
	}
	makes := noteEventTypes[n.Event]
	if makes == nil || max(len(n.Turn), len(n.Task), len(n.Parent)) > maxID || n.By != nil &&
		max(len(n.By.Name), len(n.By.Subject)) > maxID {
		s.raw(string(n.Event), a.raw)
		return
	}
	data := makes()
	if json.Unmarshal(payload, data) != nil || s.log.Full(n.Event, maxItems) {
		s.raw(string(n.Event), a.raw)
		return
	}
	s.hasNotes = true
	switch d := data.(type) {
	case *protocol.MessageUserData:
		if s.isRecorded(d.ClientMessageID, n.Turn) {
			return
		}
		if n.Turn == "" {
			s.raw(string(n.Event), a.raw)
			return
		}
		s.turns.start(en.Turn, d.Message, en)
	case *protocol.TurnEndedData:
		if s.log.Turn() != "" && s.log.Turn() != en.Turn {
			s.turns.end()
		}
		s.turns.record(en)
		s.turns.clear()
	default:
		if n.Turn != "" {
			en.Turn = s.turns.ensure(n.Turn)
		}
		s.turns.record(en)
	}
	s.answerSend(en.Turn, data)
}

// isRecorded reports whether a message was recorded when it was sent, before the server's notes
// were known. Its turn then becomes the server's.
func (s *session) isRecorded(id, turn string) bool {
	t := s.log.State.Turn
	if id == "" || t == nil || !s.turns.isLocal || t.Message.MessageID != id || !slices.Contains(s.echoes.ids, id) {
		return false
	}
	s.alias = turnAlias{turn, t.Turn}
	s.turns.clear()
	return true
}

// maxItems bounds each list of a session's state.
const maxItems = 1024

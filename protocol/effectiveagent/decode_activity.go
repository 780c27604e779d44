package effectiveagent

import (
	"cmp"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// handleActivity records an activity of the session.
func (s *session) handleActivity(a *receivedActivity) {
	switch {
	case a.Note.After != "":
		return
	case a.unreadable:
		s.raw(typeActivity, a.raw)
		return
	case a.Note.Event != "":
		s.handleNote(a)
		return
	}
	s.form.update(a)
	switch a.kind {
	case kindInput:
		s.handleInput(a)
	case kindOutput:
		s.handleOutput(a)
	case kindError:
		s.handleAgentError(a)
	case kindStatus:
		s.handleStatus(a)
	default:
		s.raw(a.Type, a.raw)
	}
}

// handleInput records a message to the agent, unless it echoes one of this client.
func (s *session) handleInput(a *receivedActivity) {
	text, whole := payloadText(a.Payload)
	if s.echoes.take(a, text) {
		return
	}
	m := protocol.Message{MessageID: a.ID, Text: text}
	if m.MessageID == "" || len(m.MessageID) > maxID {
		m.MessageID = s.x.Options.ID("m")
	}
	who := &protocol.Actor{Name: Name}
	if a.Source != "" {
		who.Name = protocol.SplitText(a.Source, maxID)[0]
	}
	s.turns.startLocal(m, codec.Entry{By: who, Time: a.Time})
	if !whole {
		s.raw(a.Type, a.raw)
	}
}

// handleOutput records the agent's output as a separate part.
func (s *session) handleOutput(a *receivedActivity) {
	turn := s.agentActive(true)
	s.turns.lastError = ""
	text, whole := payloadText(a.Payload)
	if hasText(a.Payload) && text != "" {
		part := s.x.Options.ID("p")
		agent := ""
		if a.Source != s.id {
			agent = protocol.SplitText(a.Source, maxID)[0]
		}
		add := func(typ protocol.Type, data any) {
			s.turns.record(codec.Entry{Type: typ, Turn: turn, Time: a.Time, Data: data})
		}
		add(protocol.TextStart, protocol.PartStartData{Part: part, Agent: agent})
		for _, piece := range protocol.SplitText(text, protocol.MaxText) {
			add(protocol.TextDelta, protocol.PartDeltaData{Part: part, Text: piece})
		}
		add(protocol.TextEnd, protocol.PartEndData{Part: part})
	}
	if !whole {
		s.raw(a.Type, a.raw)
	}
}

// handleAgentError records an error of the agent. It may or may not end the turn.
func (s *session) handleAgentError(a *receivedActivity) {
	turn := s.agentActive(false)
	text, whole := payloadText(a.Payload)
	if !hasText(a.Payload) {
		var known string
		known, whole = fieldText(a.Payload, "message", "error")
		text = cmp.Or(known, text)
	}
	d := protocol.ErrorData{
		Kind: protocol.ErrorKindExecution, Code: protocol.CodeAgentFailed,
		Message: protocol.SplitText(text, protocol.MaxText)[0],
	}
	if turn != "" {
		s.turns.lastError = cmp.Or(d.Message, "the agent reported an error")
	}
	s.turns.record(codec.Entry{Type: protocol.ErrorRaised, Turn: turn, Time: a.Time, Data: d})
	if !whole {
		s.raw(a.Type, a.raw)
	}
}

// handleStatus records the agent's status. Some statuses end the turn.
func (s *session) handleStatus(a *receivedActivity) {
	text := codec.String(a.Payload)
	whole := text != ""
	if !whole {
		text, whole = fieldText(a.Payload, "status", "state")
	}
	ends := s.turns.isLocal && endOfTurn(text) != ""
	if text != "" && !ends {
		d := protocol.NoticeData{Level: protocol.LevelInfo, Message: protocol.SplitText(text, protocol.MaxText)[0]}
		s.turns.record(codec.Entry{Type: protocol.Notice, Turn: s.log.Turn(), Time: a.Time, Data: d})
	}
	if !whole {
		s.raw(a.Type, a.raw)
	}
	if !ends {
		return
	}
	switch endOfTurn(text) {
	case protocol.ReasonInterrupted:
		s.turns.endWith(protocol.TurnEndedData{Reason: protocol.ReasonInterrupted})
	case protocol.ReasonError:
		s.turns.lastError = cmp.Or(s.turns.lastError, text)
		s.turns.end()
	default:
		s.turns.end()
	}
}

// endOfTurn returns how a status ends the turn; "": it does not.
func endOfTurn(status string) protocol.Reason {
	switch strings.ToLower(status) {
	case "idle", "ready", "completed", "complete", "done", "finished", "stopped", "terminated":
		return protocol.ReasonCompleted
	case "failed", "error", "errored":
		return protocol.ReasonError
	case "interrupted", "cancelled", "canceled", "aborted":
		return protocol.ReasonInterrupted
	}
	return ""
}

// agentActive notes activity of the agent and returns the id of its turn. With must it starts a
// turn if none is current.
func (s *session) agentActive(must bool) (turn string) {
	s.echoes.texts = nil
	return s.turns.noteActivity(must)
}

// raw records a message without a native equivalent.
func (s *session) raw(method string, data []byte) {
	s.x.RecordRaw(s.log, s.log.Turn(), method, data)
}

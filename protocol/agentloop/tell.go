package agentloop

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"agentctl/protocol"
)

// data reads an event's data, which our server made.
func data[T any](e *protocol.Event) *T {
	d := new(T)
	_ = json.Unmarshal(e.Data, d)
	return d
}

// tellEvent tells the client what happened, as far as its protocol has words.
func (s *Server) tellEvent(e *protocol.Event) {
	s.tellCalls(e)
	switch e.Type {
	case protocol.TextDelta, protocol.ReasoningStart, protocol.ReasoningDelta, protocol.ReasoningEnd, protocol.JoinedDeltas:
		s.tellParts(e)
		return
	}
	s.tellThoughts(e, "")
	switch e.Type {
	case protocol.MessageUser:
		s.turn = turnView{loading: s.turn.loading}
		s.load(true)
		s.tell(said("", user, spoken(&data[protocol.MessageUserData](e).Message)))
	case protocol.TurnStarted:
		s.load(true)
	case protocol.TurnEnded:
		s.ended(e, data[protocol.TurnEndedData](e))
	case protocol.ToolStarted, protocol.ToolInput, protocol.ToolOutput, protocol.ToolEnded:
		s.tellTool(e)
	case protocol.ApprovalRequested:
		s.waits(data[protocol.Approval](e))
		s.ask()
	case protocol.ApprovalExplained:
		s.explained(e, data[protocol.ApprovalExplainedData](e))
	case protocol.ApprovalResolved:
		s.resolved(e, data[protocol.ApprovalResolvedData](e))
	case protocol.ContextUpdated:
		s.tellContext(data[protocol.ContextInfo](e))
	case protocol.ContextCompacted:
		d := data[protocol.ContextCompactedData](e)
		s.say(contextCompactedType, contextCompacted{d.Before, d.After, d.Percent, d.Strategy})
	case protocol.ErrorRaised:
		s.tellError(data[protocol.ErrorData](e))
	case protocol.Raw:
		s.tellRaw(data[protocol.RawData](e))
	default:
		if line := lineOf(e); line != "" {
			s.tell(said("", system, line))
		}
	}
}

// spoken is a user's message as text.
func spoken(m *protocol.Message) string {
	text := m.Text
	for _, p := range m.Parts {
		label := p.Type
		if p.Name != "" {
			label += " " + p.Name
		}
		if p.Text != "" {
			label += ": " + p.Text
		}
		if text != "" {
			text += "\n"
		}
		text += "[" + label + "]"
	}
	return text
}

// tellParts tells what the agent says: text at once, reasoning whole.
func (s *Server) tellParts(e *protocol.Event) {
	switch e.Type {
	case protocol.JoinedDeltas:
		for _, p := range data[protocol.JoinedData](e).Parts {
			s.tellPart(e, p.Kind, p.Part, p.Text)
		}
	case protocol.TextDelta:
		d := data[protocol.PartDeltaData](e)
		s.tellPart(e, protocol.KindText, d.Part, d.Text)
	case protocol.ReasoningStart:
		s.think(e, data[protocol.PartStartData](e).Part, "")
	case protocol.ReasoningDelta:
		d := data[protocol.PartDeltaData](e)
		s.tellPart(e, protocol.KindReasoning, d.Part, d.Text)
	case protocol.ReasoningEnd:
		id := s.id(e, data[protocol.PartEndData](e).Part)
		for _, t := range s.turn.thoughts {
			if t.id == id {
				s.tellThought(e, t)
			}
		}
		s.turn.thoughts = slices.DeleteFunc(s.turn.thoughts, func(t *thought) bool { return t.id == id })
	}
}

func (s *Server) tellPart(e *protocol.Event, kind protocol.Kind, part, text string) {
	if kind == protocol.KindReasoning {
		s.tellThoughts(e, s.id(e, part))
		s.think(e, part, text)
		return
	}
	s.tellThoughts(e, "")
	switch kind {
	case protocol.KindText:
		if text != "" {
			s.tell(said(s.id(e, part), assistant, text))
		}
	case protocol.KindOutput:
		s.callOf(part).give(s, text)
	case protocol.KindInput:
		s.callOf(part).write(s, text)
	}
}

// ended ends the turn: loading false, and agent_finished when it did not fail.
func (s *Server) ended(e *protocol.Event, d *protocol.TurnEndedData) {
	for _, c := range s.turn.calls {
		s.tellCall(c)
		s.tellOutput(c, &protocol.ToolEndedData{Status: protocol.ToolCancelled})
	}
	if d.Failed() && !s.turn.failed {
		message := d.Message
		if message == "" {
			message = "the turn ended: " + string(d.Reason)
		}
		code := string(d.Code)
		if code == "" {
			code = string(d.Reason)
		}
		s.fail(inputFailed, refusal{Error: message, Code: code})
	}
	if d.Reason == protocol.ReasonInterrupted {
		s.tell(said("", system, "Interrupted."))
	}
	s.load(false)
	if !d.Failed() {
		s.say(finishedType, agentFinished{e.Turn})
	}
	s.turn, s.asked = turnView{}, asking{}
}

func (s *Server) tellContext(c *protocol.ContextInfo) {
	s.say(contextInfoType, contextInfo{c.Tokens, c.Percent, c.TranscriptLength, c.MaxTokens, c.Strategy})
}

// tellError tells of a fault: what the agent recovers from as a warning, everything else as an error. Details are its class, the
// provider's status and the names of fields.
func (s *Server) tellError(d *protocol.ErrorData) {
	if d.Recoverable {
		s.tell(said("", system, "⚠️ "+d.Message))
		return
	}
	r := refusal{Error: d.Message, Fields: slices.Sorted(maps.Keys(d.Fields))}
	if d.Code != "" {
		r.Code = string(d.Code)
	}
	if status, err := strconv.Atoi(d.Details["provider_status"]); err == nil {
		r.Code = status
	}
	s.turn.failed = true
	s.fail(inputFailed, r)
}

// tellRaw gives back what was AgentLoop's own.
func (s *Server) tellRaw(d *protocol.RawData) {
	if d.Source == Name && d.Method == responseItemType && d.Data != nil {
		s.say(responseItemType, d.Data)
	}
}

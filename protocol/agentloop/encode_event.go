package agentloop

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"agentctl/protocol"
)

// decodeData decodes an event's data, which agentctl's server encoded.
func decodeData[T any](e *protocol.Event) *T {
	d := new(T)
	_ = json.Unmarshal(e.Data, d)
	return d
}

// encodeEvent sends an event, as far as the protocol can express it.
func (s *server) encodeEvent(e *protocol.Event) {
	s.sendDueCalls(e)
	switch e.Type {
	case protocol.TextDelta, protocol.ReasoningStart, protocol.ReasoningDelta, protocol.ReasoningEnd,
		protocol.JoinedDeltas:
		s.encodeParts(e)
		return
	}
	s.flushReasoning(e, "")
	switch e.Type {
	case protocol.MessageUser:
		s.turn = turnEncoder{loading: s.turn.loading}
		s.setLoading(true)
		s.sendItem(newMessageItem("", user, messageText(&decodeData[protocol.MessageUserData](e).Message)))
	case protocol.TurnStarted:
		s.setLoading(true)
	case protocol.TurnEnded:
		s.encodeTurnEnd(e, decodeData[protocol.TurnEndedData](e))
	case protocol.ToolStarted, protocol.ToolInput, protocol.ToolOutput, protocol.ToolEnded:
		s.encodeTool(e)
	case protocol.ApprovalRequested:
		s.holdCall(decodeData[protocol.Approval](e))
		s.showNextApproval()
	case protocol.ApprovalExplained:
		s.approvalExplained(e, decodeData[protocol.ApprovalExplainedData](e))
	case protocol.ApprovalResolved:
		s.approvalResolved(e, decodeData[protocol.ApprovalResolvedData](e))
	case protocol.ContextUpdated:
		s.sendContext(decodeData[protocol.ContextInfo](e))
	case protocol.ContextCompacted:
		d := decodeData[protocol.ContextCompactedData](e)
		s.send(contextCompactedType, contextCompacted{d.Before, d.After, d.Percent, d.Strategy})
	case protocol.ErrorRaised:
		s.sendError(decodeData[protocol.ErrorData](e))
	case protocol.Raw:
		s.sendRaw(decodeData[protocol.RawData](e))
	default:
		if line := noticeText(e); line != "" {
			s.sendSystem(line)
		}
	}
}

// messageText returns a user's message as text.
func messageText(m *protocol.Message) string {
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

// encodeParts sends the agent's text at once, and reasoning as a whole.
func (s *server) encodeParts(e *protocol.Event) {
	switch e.Type {
	case protocol.JoinedDeltas:
		for _, p := range decodeData[protocol.JoinedData](e).Parts {
			s.encodeDelta(e, p.Kind, p.Part, p.Text)
		}
	case protocol.TextDelta:
		d := decodeData[protocol.PartDeltaData](e)
		s.encodeDelta(e, protocol.KindText, d.Part, d.Text)
	case protocol.ReasoningStart:
		s.bufferReasoning(e, decodeData[protocol.PartStartData](e).Part, "")
	case protocol.ReasoningDelta:
		d := decodeData[protocol.PartDeltaData](e)
		s.encodeDelta(e, protocol.KindReasoning, d.Part, d.Text)
	case protocol.ReasoningEnd:
		id := s.itemID(e, decodeData[protocol.PartEndData](e).Part)
		for _, t := range s.turn.reasoning {
			if t.id == id {
				s.sendReasoning(e, t)
			}
		}
		s.turn.reasoning = slices.DeleteFunc(s.turn.reasoning, func(t *reasoningBuffer) bool { return t.id == id })
	}
}

func (s *server) encodeDelta(e *protocol.Event, kind protocol.Kind, part, text string) {
	if kind == protocol.KindReasoning {
		s.flushReasoning(e, s.itemID(e, part))
		s.bufferReasoning(e, part, text)
		return
	}
	s.flushReasoning(e, "")
	switch kind {
	case protocol.KindText:
		if text != "" {
			s.sendItem(newMessageItem(s.itemID(e, part), assistant, text))
		}
	case protocol.KindOutput:
		s.openCall(part).appendOutput(s, text)
	case protocol.KindInput:
		s.openCall(part).appendArguments(s, text)
	}
}

// encodeTurnEnd sends the end of the turn: loading false, and agent_finished unless the turn
// failed.
func (s *server) encodeTurnEnd(e *protocol.Event, d *protocol.TurnEndedData) {
	for _, c := range s.turn.calls {
		s.sendCall(c)
		s.sendOutput(c, &protocol.ToolEndedData{Status: protocol.ToolCancelled})
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
		s.sendFailure(errorDetails{Error: message, Code: code})
	}
	if d.Reason == protocol.ReasonInterrupted {
		s.sendSystem("Interrupted.")
	}
	s.setLoading(false)
	if !d.Failed() {
		s.send(finishedType, agentFinished{e.Turn})
	}
	s.turn, s.shown = turnEncoder{}, shownApproval{}
}

// sendError sends an error event: a recoverable one as a warning, others as a failure. Details are
// its class, the provider's status and the names of fields.
func (s *server) sendError(d *protocol.ErrorData) {
	if d.Recoverable {
		s.sendSystem(warningSign + d.Message)
		return
	}
	r := errorDetails{Error: d.Message, Fields: slices.Sorted(maps.Keys(d.Fields))}
	if d.Code != "" {
		r.Code = string(d.Code)
	}
	if status, err := strconv.Atoi(d.Details["provider_status"]); err == nil {
		r.Code = status
	}
	s.turn.failed = true
	s.sendFailure(r)
}

// sendFailure sends a failure of the agent in both forms: the system message of the real system and
// the error of the document. The prefix of the item's id marks the repetition.
func (s *server) sendFailure(d errorDetails) {
	s.sendItem(newMessageItem(s.Options.ID(failurePrefix), system, warningSign+d.Error))
	s.fail(inputFailed, d)
}

// sendSystem sends a system message.
func (s *server) sendSystem(text string) {
	s.sendItem(newMessageItem(s.Options.ID("sys"), system, text))
}

// sendRaw sends a raw event that came from AgentLoop.
func (s *server) sendRaw(d *protocol.RawData) {
	if d.Source == Name && d.Method == responseItemType && d.Data != nil {
		s.send(responseItemType, d.Data)
	}
}

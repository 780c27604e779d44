package server

import (
	"maps"
	"slices"
	"strconv"

	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// encodeEvent sends an event, as far as the protocol can express it.
func (s *Conn) encodeEvent(e *protocol.Event) {
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
		s.sendItem(wire.NewMessageItem("", wire.User, wire.MessageText(&codec.DecodeEvent[protocol.MessageUserData](e).Message)))
	case protocol.TurnStarted:
		s.setLoading(true)
	case protocol.TurnEnded:
		s.encodeTurnEnd(e, codec.DecodeEvent[protocol.TurnEndedData](e))
	case protocol.ToolStarted, protocol.ToolInput, protocol.ToolOutput, protocol.ToolEnded:
		s.encodeTool(e)
	case protocol.ApprovalRequested:
		s.holdCall(codec.DecodeEvent[protocol.Approval](e))
		s.showNextApproval()
	case protocol.ApprovalExplained:
		s.approvalExplained(e, codec.DecodeEvent[protocol.ApprovalExplainedData](e))
	case protocol.ApprovalResolved:
		s.approvalResolved(e, codec.DecodeEvent[protocol.ApprovalResolvedData](e))
	case protocol.ContextUpdated:
		s.sendContext(codec.DecodeEvent[protocol.ContextInfo](e))
	case protocol.ContextCompacted:
		d := codec.DecodeEvent[protocol.ContextCompactedData](e)
		s.send(wire.ContextCompactedType, wire.ContextCompacted{OldTokenCount: d.Before, NewTokenCount: d.After, ReductionPercent: d.Percent, Strategy: d.Strategy})
	case protocol.ErrorRaised:
		s.sendError(codec.DecodeEvent[protocol.ErrorData](e))
	case protocol.Raw:
		s.sendRaw(codec.DecodeEvent[protocol.RawData](e))
	default:
		if line := wire.NoticeText(e); line != "" {
			s.sendSystem(line)
		}
	}
}

// encodeParts sends the agent's text at once, and reasoning as a whole.
func (s *Conn) encodeParts(e *protocol.Event) {
	switch e.Type {
	case protocol.JoinedDeltas:
		for _, p := range codec.DecodeEvent[protocol.JoinedData](e).Parts {
			s.encodeDelta(e, p.Kind, p.Part, p.Text)
		}
	case protocol.TextDelta:
		d := codec.DecodeEvent[protocol.PartDeltaData](e)
		s.encodeDelta(e, protocol.KindText, d.Part, d.Text)
	case protocol.ReasoningStart:
		s.bufferReasoning(e, codec.DecodeEvent[protocol.PartStartData](e).Part, "")
	case protocol.ReasoningDelta:
		d := codec.DecodeEvent[protocol.PartDeltaData](e)
		s.encodeDelta(e, protocol.KindReasoning, d.Part, d.Text)
	case protocol.ReasoningEnd:
		id := s.itemID(e, codec.DecodeEvent[protocol.PartEndData](e).Part)
		for _, t := range s.turn.reasoning {
			if t.id == id {
				s.sendReasoning(e, t)
			}
		}
		s.turn.reasoning = slices.DeleteFunc(s.turn.reasoning, func(t *reasoningBuffer) bool { return t.id == id })
	}
}

func (s *Conn) encodeDelta(e *protocol.Event, kind protocol.Kind, part, text string) {
	if kind == protocol.KindReasoning {
		s.flushReasoning(e, s.itemID(e, part))
		s.bufferReasoning(e, part, text)
		return
	}
	s.flushReasoning(e, "")
	switch kind {
	case protocol.KindText:
		if text != "" {
			s.sendItem(wire.NewMessageItem(s.itemID(e, part), wire.Assistant, text))
		}
	case protocol.KindOutput:
		s.openCall(part).appendOutput(s, text)
	case protocol.KindInput:
		s.openCall(part).appendArguments(s, text)
	}
}

// encodeTurnEnd sends the end of the turn: loading false, and agent_finished unless the turn
// failed.
func (s *Conn) encodeTurnEnd(e *protocol.Event, d *protocol.TurnEndedData) {
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
		s.send(wire.FinishedType, wire.AgentFinished{ResponseID: e.Turn})
	}
	s.turn, s.shown = turnEncoder{}, shownApproval{}
}

// sendError sends an error event: a recoverable one as a warning, others as a failure. Details are
// its class, the provider's status and the names of fields.
func (s *Conn) sendError(d *protocol.ErrorData) {
	if d.Recoverable {
		s.sendSystem(wire.WarningSign + d.Message)
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
func (s *Conn) sendFailure(d errorDetails) {
	s.sendItem(wire.NewMessageItem(s.Options.ID(wire.FailurePrefix), wire.System, wire.WarningSign+d.Error))
	s.fail(wire.InputFailed, d)
}

// sendSystem sends a system message.
func (s *Conn) sendSystem(text string) {
	s.sendItem(wire.NewMessageItem(s.Options.ID("sys"), wire.System, text))
}

// sendRaw sends a raw event that came from AgentLoop.
func (s *Conn) sendRaw(d *protocol.RawData) {
	if d.Source == wire.Name && d.Method == wire.ResponseItemType && d.Data != nil {
		s.send(wire.ResponseItemType, d.Data)
	}
}

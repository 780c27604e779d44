package server

import (
	"cmp"
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/multiagent/wire"
)

// handleEvent encodes an event of a session that the client uses.
func (s *Conn) handleEvent(c *conversation, e *protocol.Event) {
	if !e.Durable() {
		if _, ended := s.Unsubscribed(e); ended {
			s.dropConversation(c, wire.CodeNotFound, "the conversation no longer exists")
		} else if e.Type == protocol.CaughtUp && !c.ready {
			s.handleCaughtUp(c)
		}
		return
	}
	if c.resubscribing || e.Seq <= c.seq {
		return
	}
	c.seq = e.Seq
	switch e.Type {
	case protocol.SessionCreated, protocol.SessionUpdated:
		var d struct{ Agent string }
		if e.Decode(&d) == nil && d.Agent != "" {
			c.agent = d.Agent
		}
		return
	case protocol.MessageUser:
		c.turn = newServerTurn(e.Turn, c.agent)
		var d protocol.MessageUserData
		if e.Decode(&d) == nil {
			c.turn.message, c.turn.toolRequest = d.MessageID, wire.IsToolRequest(d.Text)
			s.answerBegun(c, d.MessageID)
		}
		return
	case protocol.ApprovalRequested:
		var d protocol.Approval
		if e.Decode(&d) == nil {
			if c.turn != nil {
				c.turn.toolRequest = false
			}
			s.encodeApproval(c, &d)
		}
		return
	case protocol.ApprovalResolved:
		var d protocol.ApprovalResolvedData
		if e.Decode(&d) == nil {
			s.encodeResolution(c, &d)
		}
		return
	}
	if c.turn != nil && c.turn.id == e.Turn {
		s.handleTurnEvent(c, e)
	}
}

// handleTurnEvent encodes an event of the current turn.
func (s *Conn) handleTurnEvent(c *conversation, e *protocol.Event) {
	t := c.turn
	switch e.Type {
	case protocol.TurnStarted:
		var d protocol.TurnStartedData
		if e.Decode(&d) == nil && d.Agent != "" {
			t.agent = d.Agent
		}
	case protocol.TurnEnded:
		var d protocol.TurnEndedData
		if e.Decode(&d) == nil {
			s.encodeTurnEnded(c, &d)
		}
	case protocol.TextStart, protocol.ReasoningStart:
		var d protocol.PartStartData
		if e.Decode(&d) == nil {
			p := t.part(e, d.Part, partKind(e.Type))
			if d.Agent != "" {
				p.agent = d.Agent
			}
		}
	case protocol.TextDelta, protocol.ReasoningDelta:
		var d protocol.PartDeltaData
		if e.Decode(&d) == nil {
			s.appendText(c, t.part(e, d.Part, partKind(e.Type)), d.Text)
		}
	case protocol.TextEnd, protocol.ReasoningEnd:
		var d protocol.PartEndData
		if e.Decode(&d) == nil {
			s.flushPart(c, t.part(e, d.Part, partKind(e.Type)))
		}
	case protocol.JoinedDeltas:
		var d protocol.JoinedData
		if e.Decode(&d) == nil {
			s.encodeJoined(c, e, &d)
		}
	default:
		s.handleToolEvent(c, e)
	}
}

func partKind(t protocol.Type) protocol.Kind {
	switch t {
	case protocol.ReasoningStart, protocol.ReasoningDelta, protocol.ReasoningEnd:
		return protocol.KindReasoning
	}
	return protocol.KindText
}

// encodeJoined encodes a run of deltas part by part.
func (s *Conn) encodeJoined(c *conversation, e *protocol.Event, d *protocol.JoinedData) {
	for _, p := range d.Parts {
		event := protocol.Event{Task: p.Task, Parent: p.Parent, Turn: e.Turn}
		switch p.Kind {
		case protocol.KindText, protocol.KindReasoning:
			s.appendText(c, c.turn.part(&event, p.Part, p.Kind), p.Text)
		case protocol.KindOutput:
			c.turn.tool(p.Part).appendOutput(p.Text)
		}
	}
}

func (s *Conn) handleToolEvent(c *conversation, e *protocol.Event) {
	t := c.turn
	switch e.Type {
	case protocol.ToolStarted:
		var d protocol.ToolStartedData
		if e.Decode(&d) != nil {
			return
		}
		t.toolRequest = false
		call := t.tool(d.Tool)
		call.name = cmp.Or(d.Name, call.name)
		call.title = cmp.Or(d.Title, call.title)
		call.kind = cmp.Or(d.Kind, call.kind)
	case protocol.ToolOutput:
		var d protocol.ToolOutputData
		if e.Decode(&d) != nil {
			return
		}
		call := t.tool(d.Tool)
		if d.Replace {
			call.output = nil
		}
		call.appendOutput(d.Text)
		for _, piece := range d.Content {
			call.appendOutput(piece.Text)
		}
	case protocol.ToolEnded:
		var d protocol.ToolEndedData
		if e.Decode(&d) == nil {
			s.encodeToolEnded(c, &d)
		}
	}
}

func (call *tool) appendOutput(text string) {
	call.output = append(call.output, text[:min(len(text), maxOutput-len(call.output))]...)
}

// resultJSON returns a tool's result in the protocol's form.
func (call *tool) resultJSON(d *protocol.ToolEndedData) json.RawMessage {
	if len(d.Output) > 0 {
		return d.Output
	}
	return protocol.MustEncode(wire.PlainResult{Output: protocol.ValidText(string(call.output)), ExitCode: d.ExitCode})
}

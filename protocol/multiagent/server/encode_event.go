package server

import (
	"cmp"
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// encode encodes a durable event.
func (c *conversation) encode(e *protocol.Event) []codec.Frame {
	if c.resubscribing || e.Seq <= c.seq {
		return nil
	}
	c.seq = e.Seq
	switch e.Type {
	case protocol.SessionCreated, protocol.SessionUpdated:
		var d struct{ Agent string }
		if e.Decode(&d) == nil && d.Agent != "" {
			c.agent = d.Agent
		}
	case protocol.MessageUser:
		var d protocol.MessageUserData
		if e.Decode(&d) != nil {
			d = protocol.MessageUserData{}
		}
		return c.begin(e.Turn, &d.Message)
	case protocol.ApprovalRequested:
		var d protocol.Approval
		if e.Decode(&d) == nil {
			if c.turn != nil {
				c.turn.toolRequest = false
			}
			return []codec.Frame{c.ask(&d)}
		}
	case protocol.ApprovalResolved:
		var d protocol.ApprovalResolvedData
		if e.Decode(&d) == nil {
			return c.resolve(&d)
		}
	default:
		if c.turn != nil && c.turn.id == e.Turn {
			return c.encodeTurnEvent(e)
		}
	}
	return nil
}

// encodeTurnEvent encodes an event of the current turn.
func (c *conversation) encodeTurnEvent(e *protocol.Event) []codec.Frame {
	t := c.turn
	switch e.Type {
	case protocol.TurnStarted:
		var d protocol.TurnStartedData
		if e.Decode(&d) == nil && d.Agent != "" {
			t.agent = d.Agent
		}
	case protocol.MessageResolved:
		var d protocol.MessageResolvedData
		if e.Decode(&d) == nil && d.Outcome != protocol.SteerRefused {
			return c.answerBegun(d.MessageID)
		}
	case protocol.TurnEnded:
		var d protocol.TurnEndedData
		if e.Decode(&d) == nil {
			return c.encodeTurnEnded(&d)
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
			return c.appendText(t.part(e, d.Part, partKind(e.Type)), d.Text)
		}
	case protocol.TextEnd, protocol.ReasoningEnd:
		var d protocol.PartEndData
		if e.Decode(&d) == nil {
			return c.flushPart(t.part(e, d.Part, partKind(e.Type)))
		}
	case protocol.JoinedDeltas:
		var d protocol.JoinedData
		if e.Decode(&d) == nil {
			return c.encodeJoined(e, &d)
		}
	default:
		return c.encodeToolEvent(e)
	}
	return nil
}

func partKind(t protocol.Type) protocol.Kind {
	switch t {
	case protocol.ReasoningStart, protocol.ReasoningDelta, protocol.ReasoningEnd:
		return protocol.KindReasoning
	}
	return protocol.KindText
}

// encodeJoined encodes a run of deltas part by part.
func (c *conversation) encodeJoined(e *protocol.Event, d *protocol.JoinedData) (frames []codec.Frame) {
	for _, p := range d.Parts {
		event := protocol.Event{Task: p.Task, Parent: p.Parent, Turn: e.Turn}
		switch p.Kind {
		case protocol.KindText, protocol.KindReasoning:
			frames = append(frames, c.appendText(c.turn.part(&event, p.Part, p.Kind), p.Text)...)
		case protocol.KindOutput:
			c.turn.tool(p.Part).appendOutput(p.Text)
		}
	}
	return frames
}

func (c *conversation) encodeToolEvent(e *protocol.Event) []codec.Frame {
	t := c.turn
	switch e.Type {
	case protocol.ToolStarted:
		var d protocol.ToolStartedData
		if e.Decode(&d) != nil {
			return nil
		}
		t.toolRequest = false
		call := t.tool(d.Tool)
		call.name = cmp.Or(d.Name, call.name)
		call.title = cmp.Or(d.Title, call.title)
		call.kind = cmp.Or(d.Kind, call.kind)
	case protocol.ToolOutput:
		var d protocol.ToolOutputData
		if e.Decode(&d) != nil {
			return nil
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
			return c.encodeToolEnded(&d)
		}
	}
	return nil
}

// maxOutput bounds the output that is kept of a tool, in bytes.
const maxOutput = 64 << 10

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

package multiagent

import (
	"cmp"
	"encoding/json"

	"agentctl/protocol"
)

// event says an event of a session that the client uses.
func (s *Server) event(c *conversation, e *protocol.Event) {
	if !e.Durable() {
		var gone protocol.Client
		switch {
		case e.Type == protocol.CaughtUp && !c.ready:
			s.caughtUp(c)
		case e.Type == protocol.ClientDetached && e.Decode(&gone) == nil && gone.Client == s.connection && gone.Reason != "":
			s.lost(c, notFound, "the conversation is gone")
		}
		return
	}
	if c.skip || e.Seq <= c.seq {
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
		c.turn = newTurn(e.Turn, c.agent)
		return
	case protocol.ApprovalRequested:
		var d protocol.Approval
		if e.Decode(&d) == nil {
			s.asked(c, &d)
		}
		return
	case protocol.ApprovalResolved:
		var d protocol.ApprovalResolvedData
		if e.Decode(&d) == nil {
			s.resolved(c, &d)
		}
		return
	}
	if c.turn != nil && c.turn.id == e.Turn {
		s.turnEvent(c, e)
	}
}

// turnEvent says an event of the turn under way.
func (s *Server) turnEvent(c *conversation, e *protocol.Event) {
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
			s.ended(c, &d)
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
			s.text(c, t.part(e, d.Part, partKind(e.Type)), d.Text)
		}
	case protocol.TextEnd, protocol.ReasoningEnd:
		var d protocol.PartEndData
		if e.Decode(&d) == nil {
			s.utter(c, t.part(e, d.Part, partKind(e.Type)))
		}
	case protocol.JoinedDeltas:
		var d protocol.JoinedData
		if e.Decode(&d) == nil {
			s.folded(c, e, &d)
		}
	default:
		s.toolEvent(c, e)
	}
}

func partKind(t protocol.Type) protocol.Kind {
	switch t {
	case protocol.ReasoningStart, protocol.ReasoningDelta, protocol.ReasoningEnd:
		return protocol.KindReasoning
	}
	return protocol.KindText
}

func (s *Server) folded(c *conversation, e *protocol.Event, d *protocol.JoinedData) {
	for _, p := range d.Parts {
		of := protocol.Event{Task: p.Task, Parent: p.Parent, Turn: e.Turn}
		switch p.Kind {
		case protocol.KindText, protocol.KindReasoning:
			s.text(c, c.turn.part(&of, p.Part, p.Kind), p.Text)
		case protocol.KindOutput:
			c.turn.tool(p.Part).take(p.Text)
		}
	}
}

func (s *Server) toolEvent(c *conversation, e *protocol.Event) {
	t := c.turn
	switch e.Type {
	case protocol.ToolStarted:
		var d protocol.ToolStartedData
		if e.Decode(&d) != nil {
			return
		}
		k := t.tool(d.Tool)
		k.name, k.title, k.kind = cmp.Or(d.Name, k.name), cmp.Or(d.Title, k.title), cmp.Or(d.Kind, k.kind)
	case protocol.ToolOutput:
		var d protocol.ToolOutputData
		if e.Decode(&d) != nil {
			return
		}
		k := t.tool(d.Tool)
		if d.Replace {
			k.output = nil
		}
		k.take(d.Text)
		for _, piece := range d.Content {
			k.take(piece.Text)
		}
	case protocol.ToolEnded:
		var d protocol.ToolEndedData
		if e.Decode(&d) == nil {
			s.toolEnded(c, &d)
		}
	}
}

func (k *tool) take(text string) {
	k.output = append(k.output, text[:min(len(text), maxOutput-len(k.output))]...)
}

// result is what a tool gave, as the dialect's result.
func (k *tool) result(d *protocol.ToolEndedData) json.RawMessage {
	if len(d.Output) > 0 {
		return d.Output
	}
	return protocol.MustEncode(plain{protocol.ValidText(string(k.output)), d.ExitCode})
}

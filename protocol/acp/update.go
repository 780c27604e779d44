package acp

import (
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// applyEvent applies an event to its session, and sends the client what it means.
func (c *Conn) applyEvent(e *protocol.Event) {
	s := c.sessions[e.Session]
	if s == nil {
		return
	}
	if !e.Durable() {
		if e.Type == protocol.CaughtUp && s.opened != nil {
			s.opened(nil)
		}
		if why, ended := c.Unsubscribed(e); ended {
			c.abandon(s, protocol.Errorf(why, "the session cannot be followed any more"))
		}
		return
	}
	if s.Known(e) {
		return
	}
	s.Apply(e)
	c.track(s, e)
	if s.opened == nil || s.replay {
		c.send(s, e)
	}
}

// Reset replaces the state of a session whose log differs from what the client has seen. The turns
// that ended since are lost to the client.
func (c *Conn) Reset(now time.Time, r *protocol.SubscribeResult) codec.Output {
	return c.run(now, func() {
		s := c.sessions[r.Session]
		if s == nil {
			return
		}
		s.State = nil
		s.Start(r)
		for _, p := range slices.Clone(s.prompts) {
			if t := s.State.Turn; t == nil || t.Turn != p.turn {
				c.removePrompt(s, p)
				c.endPrompt(p, "", protocol.Errorf(protocol.CodeServerRestart, "the log of the session was replaced"))
			}
		}
		for request, call := range s.requests {
			if s.State.PendingApproval(request) == nil {
				c.withdraw(call)
			}
		}
		for i := range s.State.Approvals {
			c.ask(s, &s.State.Approvals[i])
		}
		c.note(s, nil, protocol.LevelWarning, "the log of the session was replaced: load the session again to see all of it")
	})
}

// track follows what became of the prompts of this client.
func (c *Conn) track(s *session, e *protocol.Event) {
	switch e.Type {
	case protocol.MessageUser:
		d := codec.DecodeEvent[protocol.MessageUserData](e)
		c.startPrompt(s, &d.Message, e.Turn)
	case protocol.MessageSteered:
		d := codec.DecodeEvent[protocol.MessageSteeredData](e)
		c.startPrompt(s, &d.Message, e.Turn)
	case protocol.MessageResolved:
		d := codec.DecodeEvent[protocol.MessageResolvedData](e)
		for _, p := range s.prompts {
			if p.message == d.MessageID && d.Outcome == protocol.SteerRefused {
				p.turn = ""
			}
		}
	case protocol.QueueRemoved:
		c.dropPrompt(s, codec.DecodeEvent[protocol.QueueRemovedData](e))
	case protocol.ApprovalResolved:
		d := codec.DecodeEvent[protocol.ApprovalResolvedData](e)
		if call := s.requests[d.Request]; call != nil {
			c.withdraw(call)
		}
	}
}

// send sends what an event means.
func (c *Conn) send(s *session, e *protocol.Event) {
	switch e.Type {
	case protocol.MessageUser:
		if d := codec.DecodeEvent[protocol.MessageUserData](e); !d.Work || d.Text != "" {
			c.sendMessage(s, e, &d.Message)
		}
		c.sendState(s, e)
	case protocol.MessageSteered:
		c.sendMessage(s, e, &codec.DecodeEvent[protocol.MessageSteeredData](e).Message)
	case protocol.TextDelta:
		d := codec.DecodeEvent[protocol.PartDeltaData](e)
		c.sendText(s, e, protocol.KindText, d.Part, d.Text)
	case protocol.ReasoningDelta:
		d := codec.DecodeEvent[protocol.PartDeltaData](e)
		c.sendText(s, e, protocol.KindReasoning, d.Part, d.Text)
	case protocol.JoinedDeltas:
		c.sendJoined(s, e, codec.DecodeEvent[protocol.JoinedData](e))
	case protocol.TextContent:
		d := codec.DecodeEvent[protocol.TextContentData](e)
		c.update(s, e, object{
			"sessionUpdate": "agent_message_chunk", "messageId": e.Turn + "/content", "content": encodeContent(&d.Content),
		})
	case protocol.ToolStarted, protocol.ToolInput, protocol.ToolOutput, protocol.ToolEnded:
		c.sendTool(s, e)
	case protocol.ApprovalRequested:
		if s.opened == nil {
			c.ask(s, s.State.PendingApproval(codec.DecodeEvent[protocol.Approval](e).Request))
			c.sendState(s, e)
		}
	case protocol.ApprovalResolved:
		c.sendDecision(s, e)
		c.sendState(s, e)
	case protocol.PlanUpdated, protocol.PlanCompleted, protocol.TaskStarted, protocol.TaskCompleted,
		protocol.TaskFailed, protocol.TaskCancelled, protocol.TaskRestarted:
		c.sendPlan(s, e)
	case protocol.ContextUpdated, protocol.UsageUpdated, protocol.ContextCompacted:
		c.sendUsage(s, e)
	case protocol.AgentOptions:
		if s.opened == nil {
			c.sendOptions(s, e)
		}
	case protocol.SessionUpdated:
		if d := codec.DecodeEvent[protocol.SessionUpdatedData](e); d.Title != nil || d.Name != nil {
			c.sendTitle(s, e)
		}
	case protocol.TurnEnded:
		d := codec.DecodeEvent[protocol.TurnEndedData](e)
		c.endTools(s, e)
		if c.version == 2 {
			c.sendIdle(s, e, d)
		} else if _, err := stopReason(d); err != nil && !s.prompted(e.Turn) {
			c.note(s, e, protocol.LevelWarning, err.Message)
		}
		c.endPrompts(s, e.Turn, d)
	default:
		if line, ok := e.Line(); ok {
			c.note(s, e, line.Level, line.String())
		}
		if e.Type == protocol.SessionClosed {
			c.abandon(s, protocol.Errorf(protocol.CodeSessionClosed, "the session was closed"))
		}
	}
}

// prompted reports whether a prompt of this client is in a turn.
func (s *session) prompted(turn string) bool {
	return slices.ContainsFunc(s.prompts, func(p *prompt) bool { return p.turn == turn })
}

// update sends an update of a session. e is the event that it comes from, or nil.
func (c *Conn) update(s *session, e *protocol.Event, update object) {
	meta := object{}
	if e != nil {
		meta["position"] = protocol.Position{Epoch: s.Epoch, Seq: e.Seq}.String()
		if e.By != nil {
			meta["by"] = e.By.Name
		}
	}
	params := object{"sessionId": s.Session, "update": update}
	if len(meta) > 0 {
		params["_meta"] = c.meta(meta)
	}
	c.notify("session/update", params)
}

// sendMessage sends a user's message. In version 1 the client shows its own prompts itself.
func (c *Conn) sendMessage(s *session, e *protocol.Event, m *protocol.Message) {
	own := slices.ContainsFunc(s.prompts, func(p *prompt) bool { return p.sent == m.ClientMessageID })
	if own && c.version == 1 {
		return
	}
	var content []object
	if m.Text != "" {
		content = append(content, textBlock(m.Text))
	}
	for i := range m.Parts {
		content = append(content, encodePart(&m.Parts[i]))
	}
	for _, b := range content {
		c.update(s, e, object{"sessionUpdate": "user_message_chunk", "messageId": m.MessageID, "content": b})
	}
}

// sendText sends text of the agent. Text of a task or of a sub-agent is sent as a thought.
func (c *Conn) sendText(s *session, e *protocol.Event, kind protocol.Kind, part, text string) {
	update := "agent_message_chunk"
	if kind == protocol.KindReasoning || e.Task != "" || e.Parent != "" {
		update = "agent_thought_chunk"
	}
	// Most messages are texts: encoded without a map.
	position := protocol.Position{Epoch: s.Epoch, Seq: e.Seq}.String()
	b := append(make([]byte, 0, len(text)+len(text)/8+384), `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":`...)
	b = append(protocol.AppendString(b, s.Session), `,"_meta":{"agentctl":{"position":`...)
	b = append(protocol.AppendString(b, position), `}},"update":{"sessionUpdate":"`...)
	b = append(append(b, update...), `","messageId":`...)
	b = append(protocol.AppendString(b, e.Turn+"/"+part), `,"content":{"type":"text","text":`...)
	c.Send(codec.Frame{Data: append(protocol.AppendString(b, text), `}}}}`...)})
}

func (c *Conn) sendJoined(s *session, e *protocol.Event, d *protocol.JoinedData) {
	for i := range d.Parts {
		p := &d.Parts[i]
		switch p.Kind {
		case protocol.KindOutput:
			c.appendOutput(s, e, p.Part, p.Text)
		case protocol.KindInput:
		default:
			part := *e
			part.Task, part.Parent = p.Task, p.Parent
			c.sendText(s, &part, p.Kind, p.Part, p.Text)
		}
	}
}

// note sends a line for the user: as a notice, or as a thought to a client that knows none.
func (c *Conn) note(s *session, e *protocol.Event, level, text string) {
	if text == "" { // a notice has a title
		return
	}
	severity := "info"
	switch level {
	case protocol.LevelWarning, protocol.LevelError:
		severity = level
	}
	if c.version == 2 || c.client.Session != nil && c.client.Session.Notices != nil {
		c.update(s, e, object{"sessionUpdate": "notice", "severity": severity, "title": text})
		return
	}
	turn := ""
	if e != nil {
		turn = e.Turn
	}
	c.update(s, e, object{
		"sessionUpdate": "agent_thought_chunk", "messageId": turn + "/note", "content": textBlock(text + "\n"),
	})
}

// sendState sends what the session does, which only version 2 knows.
func (c *Conn) sendState(s *session, e *protocol.Event) {
	if c.version != 2 {
		return
	}
	state := "idle"
	switch s.State.Status() {
	case protocol.Running:
		state = "running"
	case protocol.Waiting:
		state = "requires_action"
	}
	c.update(s, e, object{"sessionUpdate": "state_update", "state": state})
}

// sendIdle sends the end of a turn.
func (c *Conn) sendIdle(s *session, e *protocol.Event, d *protocol.TurnEndedData) {
	update := object{"sessionUpdate": "state_update", "state": "idle"}
	reason, err := stopReason(d)
	if update["stopReason"] = reason; err != nil {
		update["stopReason"], update["error"] = "error", errorOf(err)
	}
	c.update(s, e, update)
}

func (c *Conn) sendTitle(s *session, e *protocol.Event) {
	c.update(s, e, object{"sessionUpdate": "session_info_update", "title": titleOf(s.State.Title, s.State.Name)})
}

// sendUsage sends the usage of the context and the cost, once the agent has reported the context.
func (c *Conn) sendUsage(s *session, e *protocol.Event) {
	info, usage := s.State.Context, s.State.Usage
	if info == nil {
		return
	}
	update := object{"sessionUpdate": "usage_update", "used": max(info.Tokens, 0), "size": max(info.MaxTokens, 0)}
	if usage != nil && usage.Cost > 0 && usage.Currency != "" {
		update["cost"] = object{"amount": usage.Cost, "currency": usage.Currency}
	}
	c.update(s, e, update)
}

func (c *Conn) sendPlan(s *session, e *protocol.Event) {
	if s.State.Plan == nil {
		return
	}
	entries := []object{}
	for i := range s.State.Plan.Tasks {
		t := &s.State.Plan.Tasks[i]
		status := "pending"
		switch t.Status {
		case protocol.StatusRunning:
			status = "in_progress"
		case protocol.StatusCompleted, protocol.StatusFailed, protocol.StatusCancelled:
			status = "completed"
		}
		entries = append(entries, object{"content": t.Title, "priority": "medium", "status": status})
	}
	if c.version == 2 {
		c.update(s, e, object{
			"sessionUpdate": "plan_update", "plan": object{"type": "items", "planId": "plan", "entries": entries},
		})
		return
	}
	c.update(s, e, object{"sessionUpdate": "plan", "entries": entries})
}

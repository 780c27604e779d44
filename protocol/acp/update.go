package acp

import (
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// send sends what an event means.
func (s *session) send(e *protocol.Event) {
	switch e.Type {
	case protocol.MessageUser:
		if d := codec.DecodeEvent[protocol.MessageUserData](e); !d.Work || d.Text != "" {
			s.sendMessage(e, &d.Message)
		}
		s.sendState(e)
	case protocol.MessageSteered:
		s.sendMessage(e, &codec.DecodeEvent[protocol.MessageSteeredData](e).Message)
	case protocol.TextDelta:
		d := codec.DecodeEvent[protocol.PartDeltaData](e)
		s.sendText(e, protocol.KindText, d.Part, d.Text)
	case protocol.ReasoningDelta:
		d := codec.DecodeEvent[protocol.PartDeltaData](e)
		s.sendText(e, protocol.KindReasoning, d.Part, d.Text)
	case protocol.JoinedDeltas:
		s.sendJoined(e, codec.DecodeEvent[protocol.JoinedData](e))
	case protocol.TextContent:
		d := codec.DecodeEvent[protocol.TextContentData](e)
		s.update(e, object{
			"sessionUpdate": "agent_message_chunk", "messageId": e.Turn + "/content", "content": encodeContent(&d.Content),
		})
	case protocol.ToolStarted, protocol.ToolInput, protocol.ToolOutput, protocol.ToolEnded:
		s.tools.send(e)
	case protocol.ApprovalRequested:
		if s.opened == nil {
			s.permissions.ask(s.State.PendingApproval(codec.DecodeEvent[protocol.Approval](e).Request))
			s.sendState(e)
		}
	case protocol.ApprovalExplained:
		s.permissions.sendExplanation(e)
	case protocol.ApprovalResolved:
		s.permissions.sendDecision(e)
		s.sendState(e)
	case protocol.PlanUpdated, protocol.PlanCompleted, protocol.TaskStarted, protocol.TaskCompleted,
		protocol.TaskFailed, protocol.TaskCancelled, protocol.TaskRestarted:
		s.sendPlan(e)
	case protocol.ContextUpdated, protocol.UsageUpdated, protocol.ContextCompacted:
		s.sendUsage(e)
	case protocol.AgentOptions:
		if s.opened == nil {
			s.sendOptions(e)
		}
	case protocol.SessionUpdated:
		if d := codec.DecodeEvent[protocol.SessionUpdatedData](e); d.Title != nil || d.Name != nil {
			s.sendTitle(e)
		}
	case protocol.TurnEnded:
		d := codec.DecodeEvent[protocol.TurnEndedData](e)
		s.tools.endAll(e)
		reason, err := stopReason(d)
		if s.client.version == 2 {
			s.sendIdle(e, d)
		} else if err != nil && !slices.ContainsFunc(s.prompts.list, inTurn(e.Turn)) {
			s.note(e, protocol.LevelWarning, err.Message)
		}
		s.prompts.endAll(inTurn(e.Turn), reason, err)
	default:
		if line, ok := e.Line(); ok {
			s.note(e, line.Level, line.String())
		}
	}
}

// sendMessage sends a user's message. In version 1 the client shows its own prompts itself.
func (s *session) sendMessage(e *protocol.Event, m *protocol.Message) {
	if s.client.version == 1 && s.prompts.has(m) {
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
		s.update(e, object{"sessionUpdate": "user_message_chunk", "messageId": m.MessageID, "content": b})
	}
}

func (s *session) sendJoined(e *protocol.Event, d *protocol.JoinedData) {
	for i := range d.Parts {
		p := &d.Parts[i]
		switch p.Kind {
		case protocol.KindOutput:
			s.tools.append(e, p.Part, p.Text)
		case protocol.KindInput:
		default:
			part := *e
			part.Task, part.Parent = p.Task, p.Parent
			s.sendText(&part, p.Kind, p.Part, p.Text)
		}
	}
}

// sendState sends what the session does, which only version 2 knows.
func (s *session) sendState(e *protocol.Event) {
	if s.client.version != 2 {
		return
	}
	state := "idle"
	switch s.State.Status() {
	case protocol.Running:
		state = "running"
	case protocol.Waiting:
		state = "requires_action"
	}
	s.update(e, object{"sessionUpdate": "state_update", "state": state})
}

// sendIdle sends the end of a turn.
func (s *session) sendIdle(e *protocol.Event, d *protocol.TurnEndedData) {
	update := object{"sessionUpdate": "state_update", "state": "idle"}
	reason, err := stopReason(d)
	if update["stopReason"] = reason; err != nil {
		update["stopReason"], update["error"] = "error", errorOf(err)
	}
	s.update(e, update)
}

func (s *session) sendTitle(e *protocol.Event) {
	s.update(e, object{"sessionUpdate": "session_info_update", "title": titleOf(s.State.Title, s.State.Name)})
}

// sendUsage sends the usage of the context and the cost, once the agent has reported the context.
func (s *session) sendUsage(e *protocol.Event) {
	info, usage := s.State.Context, s.State.Usage
	if info == nil {
		return
	}
	update := object{"sessionUpdate": "usage_update", "used": max(info.Tokens, 0), "size": max(info.MaxTokens, 0)}
	if usage != nil && usage.Cost > 0 && usage.Currency != "" {
		update["cost"] = object{"amount": usage.Cost, "currency": usage.Currency}
	}
	s.update(e, update)
}

func (s *session) sendPlan(e *protocol.Event) {
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
	if s.client.version == 2 {
		s.update(e, object{
			"sessionUpdate": "plan_update", "plan": object{"type": "items", "planId": "plan", "entries": entries},
		})
		return
	}
	s.update(e, object{"sessionUpdate": "plan", "entries": entries})
}

// sendOptions sends settings and commands after a change.
func (s *session) sendOptions(e *protocol.Event) {
	o, version := s.State.Options, s.client.version
	s.update(e, object{"sessionUpdate": "config_option_update", "configOptions": configOptions(version, o)})
	if modes := modesOf(o); modes != nil && version == 1 {
		s.update(e, object{"sessionUpdate": "current_mode_update", "currentModeId": modes["currentModeId"]})
	}
	s.update(e, object{"sessionUpdate": "available_commands_update", "availableCommands": commandList(version, o)})
}

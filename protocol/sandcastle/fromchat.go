package sandcastle

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// chat takes a step of the turn under way.
func (c *Client) chat(s *session, raw json.RawMessage) {
	t := s.turn
	var e chatEvent
	if json.Unmarshal(raw, &e) != nil || e.Type == "" {
		c.raw(s, t.id, cut(e.Type), raw)
		return
	}
	switch e.Type {
	case chatApprovalRequest, chatModeChange, chatRenamed: // the server's buffer does not hold them
	default:
		t.buffered++
		t.sum = sum(t.sum, raw)
	}
	if t.fault != nil && e.Type != chatFinish {
		c.add(s, codec.Entry{Type: protocol.ErrorRaised, Turn: t.id, Data: protocol.ErrorData{Kind: protocol.ErrorKindExecution, Message: *t.fault}})
		t.fault = nil
	}
	switch e.Type {
	case chatStart:
		if e.MessageID != "" {
			t.answer = &e.MessageID
		}
	case chatStartStep, chatFinishStep: // nothing that the turn itself does not say
	case chatTextStart, chatTextDelta, chatTextEnd, chatReasoningStart, chatReasoningDelta, chatReasoningEnd:
		c.words(s, &e)
	case chatToolInputStart, chatToolInputDelta, chatToolInput, chatToolInputError, chatToolOutput, chatToolOutputError, chatToolDenied:
		if !t.shadows[e.ToolCallID] {
			c.tool(s, &e, raw)
		}
	case chatApprovalRequest:
		c.pending(s, e.ToolCallID, e.ToolName)
	case chatMetadata:
		c.add(s, codec.Entry{Type: protocol.UsageUpdated, Turn: t.id, Data: protocol.Usage{
			Input: e.InputTokens, Output: e.OutputTokens, Cached: e.CacheReadTokens, Cost: e.CostUSD, Currency: currency(e.CostUSD), Model: e.Model,
		}})
	case chatError:
		t.fault = e.ErrorText
	case chatFinish:
		t.finish = e.FinishReason
		t.end = endOf(e.MessageMetadata)
		if m := e.Metadata; m != nil {
			t.usage = &protocol.Usage{
				Input: m.InputTokens, Output: m.OutputTokens, Cached: m.CacheRead, Cost: m.CostUSD, Currency: currency(m.CostUSD),
			}
		}
	case chatNative:
		c.native(s, &e, raw)
	case chatModeChange, chatRenamed:
		c.chatAside(s, t.id, raw, raw)
	default:
		c.raw(s, t.id, cut(e.Type), raw)
	}
}

func currency(cost float64) string {
	if cost == 0 {
		return ""
	}
	return "USD"
}

// chatAside takes a chat event that is of the session rather than of its turn; whole is the event that held it.
func (c *Client) chatAside(s *session, turn string, raw, whole json.RawMessage) {
	var e chatEvent
	_ = json.Unmarshal(raw, &e)
	switch e.Type {
	case chatRenamed:
		c.add(s, codec.Entry{Type: protocol.SessionUpdated, Data: protocol.SessionUpdatedData{Title: &e.Title}})
	case chatModeChange:
		c.mode(s, e.Mode)
	default:
		c.raw(s, turn, streamEvent, whole)
	}
}

// mode sets the agent's mode in its options.
func (c *Client) mode(s *session, mode string) {
	var o protocol.Options
	if old := s.log.State.Options; old != nil {
		o = *old
	}
	settings := []protocol.Setting{}
	for _, set := range o.Settings {
		if set.ID == settingMode && set.Value == mode {
			return
		}
		if set.ID != settingMode {
			settings = append(settings, set)
		}
	}
	o.Settings = append(settings, protocol.Setting{
		ID: settingMode, Name: "Mode", Value: mode, Choices: []protocol.Choice{{ID: modeBuild, Label: "Build"}, {ID: modePlan, Label: "Plan"}},
	})
	c.add(s, codec.Entry{Type: protocol.AgentOptions, Data: o})
}

// words takes a step of a text or a reasoning.
func (c *Client) words(s *session, e *chatEvent) {
	en := codec.Entry{Turn: s.turn.id}
	if e.ProviderMetadata == nil || e.ProviderMetadata.Agentctl == nil {
		e.ProviderMetadata = &providerMetadata{&voice{}}
	}
	v := e.ProviderMetadata.Agentctl
	switch e.Type {
	case chatTextStart, chatReasoningStart:
		en.Type, en.Task, en.Parent, en.Data = protocol.TextStart, v.Task, v.Parent, protocol.PartStartData{Part: e.ID, Agent: v.Agent}
		if e.Type == chatReasoningStart {
			en.Type = protocol.ReasoningStart
		}
		c.add(s, en)
	case chatTextDelta, chatReasoningDelta:
		en.Type = protocol.TextDelta
		if e.Type == chatReasoningDelta {
			en.Type = protocol.ReasoningDelta
		}
		if e.Delta == nil {
			return
		}
		for _, piece := range protocol.SplitText(*e.Delta, protocol.MaxText) {
			en.Data = protocol.PartDeltaData{Part: e.ID, Text: piece}
			c.add(s, en)
		}
	default:
		en.Type, en.Data = protocol.TextEnd, protocol.PartEndData{Part: e.ID}
		if e.Type == chatReasoningEnd {
			en.Type = protocol.ReasoningEnd
		}
		c.add(s, en)
	}
}

// carried are the events that chatNative may carry: those that no other word of theirs tells.
var carried = map[protocol.Type]bool{
	protocol.ApprovalRequested: true, protocol.ApprovalExplained: true, protocol.ApprovalResolved: true, protocol.PlanStarted: true,
	protocol.PlanUpdated: true, protocol.PlanCompleted: true, protocol.PlanInvalid: true, protocol.PlanCancelled: true,
	protocol.PlanFailed: true, protocol.TaskStarted: true, protocol.TaskProgress: true, protocol.TaskCompleted: true,
	protocol.TaskFailed: true, protocol.TaskCancelled: true, protocol.TaskRestarted: true, protocol.AggregateStarted: true,
	protocol.AggregateCompleted: true, protocol.PipelineCompleted: true, protocol.ContextUpdated: true, protocol.ContextCompacted: true,
	protocol.AgentOptions: true, protocol.ErrorRaised: true, protocol.RetryScheduled: true, protocol.RecoveryStarted: true,
	protocol.RecoverySucceeded: true, protocol.RecoveryFailed: true, protocol.StateExported: true, protocol.StateRestored: true,
	protocol.Notice: true, protocol.Raw: true,
}

// native takes an event that a server of ours said whole.
func (c *Client) native(s *session, e *chatEvent, raw json.RawMessage) {
	var n nativeEvent
	if json.Unmarshal(e.Data, &n) != nil || !carried[n.Type] {
		c.raw(s, s.turn.id, chatNative, raw)
		return
	}
	en := codec.Entry{Type: n.Type, Turn: s.turn.id, Task: n.Task, Parent: n.Parent, By: n.By, Data: n.Data}
	switch n.Type {
	case protocol.ApprovalRequested:
		var a protocol.Approval
		if json.Unmarshal(n.Data, &a) != nil || a.Request == "" || len(s.log.State.Approvals) >= maxDecided {
			return
		}
		if a.Editable || slices.ContainsFunc(a.Options, unsayable) {
			a.Options, a.Editable = slices.DeleteFunc(a.Options, unsayable), false
			en.Data = a
		}
		if len(s.turn.whole) < maxOpen {
			s.turn.whole[a.Request] = true
		}
		if a.Tool == "" && len(s.turn.shadows) < maxOpen {
			s.turn.shadows[a.Request] = true
		}
	case protocol.ApprovalResolved:
		var d protocol.ApprovalResolvedData
		if json.Unmarshal(n.Data, &d) != nil || s.log.State.PendingApproval(d.Request) == nil {
			return // ours, told when it was decided
		}
		s.remember(d, n.By)
	}
	c.add(s, en)
}

// unsayable reports whether the dialect has no word for an option: it is not offered, then.
func unsayable(o protocol.Option) bool { return !sayable(o.Kind) }

package client

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
)

// handleChat handles a chat event of the current turn.
func (c *Conn) handleChat(s *session, raw json.RawMessage) {
	t := s.turn
	var e wire.ChatEvent
	if json.Unmarshal(raw, &e) != nil || e.Type == "" {
		c.recordRaw(s, t.id, codec.Excerpt(e.Type), raw)
		return
	}
	switch e.Type {
	case wire.ChatApprovalRequest, wire.ChatModeChange, wire.ChatRenamed: // not in the server's buffer
	default:
		t.buffered++
		t.bufferHash = hashNext(t.bufferHash, raw)
	}
	if t.lastError != nil && e.Type != wire.ChatFinish {
		c.record(s, codec.Entry{
			Type: protocol.ErrorRaised, Turn: t.id,
			Data: protocol.ErrorData{Kind: protocol.ErrorKindExecution, Message: *t.lastError},
		})
		t.lastError = nil
	}
	switch e.Type {
	case wire.ChatStart:
		if e.MessageID != "" {
			t.answer = &e.MessageID
		}
	case wire.ChatStartStep, wire.ChatFinishStep: // redundant
	case wire.ChatTextStart, wire.ChatTextDelta, wire.ChatTextEnd, wire.ChatReasoningStart, wire.ChatReasoningDelta, wire.ChatReasoningEnd:
		c.recordTextEvent(s, &e)
	case wire.ChatToolInputStart, wire.ChatToolInputDelta, wire.ChatToolInput, wire.ChatToolInputError, wire.ChatToolOutput, wire.ChatToolOutputError,
		wire.ChatToolDenied:
		if !t.approvalTools[e.ToolCallID] {
			c.handleTool(s, &e, raw)
		}
	case wire.ChatApprovalRequest:
		c.recordPending(s, e.ToolCallID, e.ToolName)
	case wire.ChatMetadata:
		t.context = e.InputTokens + e.CacheReadTokens + e.CacheCreationTokens + e.OutputTokens
		c.record(s, codec.Entry{Type: protocol.UsageUpdated, Turn: t.id, Data: protocol.Usage{
			Input: e.InputTokens, Output: e.OutputTokens, Cached: e.CacheReadTokens, Cost: e.CostUSD,
			Currency: currency(e.CostUSD), Model: e.Model,
		}})
	case wire.ChatError:
		t.lastError = e.ErrorText
	case wire.ChatFinish:
		t.finish = e.FinishReason
		t.nativeEnd = wire.TurnEndOf(e.MessageMetadata)
		if m := e.Metadata; m != nil {
			t.usage = &protocol.Usage{
				Input: m.InputTokens, Output: m.OutputTokens, Cached: m.CacheRead, Cost: m.CostUSD,
				Currency: currency(m.CostUSD),
			}
			c.recordContext(s, m.ContextWindow)
		}
	case wire.ChatNative:
		c.recordNative(s, &e, raw)
	case wire.ChatModeChange:
		if !c.Options.PeerIsAgentctl { // its options came before
			c.handleSessionChat(s, t.id, raw, raw)
		}
	case wire.ChatRenamed:
		c.handleSessionChat(s, t.id, raw, raw)
	default:
		c.recordRaw(s, t.id, codec.Excerpt(e.Type), raw)
	}
}

// recordContext records the context usage at the end of a turn: the tokens of the model's last
// answer, in a window. agentctl's server sends its own event.
func (c *Conn) recordContext(s *session, window int64) {
	if window <= 0 || s.turn.context == 0 || c.Options.PeerIsAgentctl {
		return
	}
	c.record(s, codec.Entry{Type: protocol.ContextUpdated, Turn: s.turn.id, Data: protocol.ContextInfo{
		Tokens: s.turn.context, MaxTokens: window, Percent: 100 * float64(s.turn.context) / float64(window),
	}})
}

func currency(cost float64) string {
	if cost == 0 {
		return ""
	}
	return "USD"
}

// handleSessionChat handles a chat event of the session. whole is the event that contains it.
func (c *Conn) handleSessionChat(s *session, turn string, raw, whole json.RawMessage) {
	var e wire.ChatEvent
	_ = json.Unmarshal(raw, &e)
	switch e.Type {
	case wire.ChatRenamed:
		c.record(s, codec.Entry{Type: protocol.SessionUpdated, Data: protocol.SessionUpdatedData{Title: &e.Title}})
	case wire.ChatModeChange:
		c.recordMode(s, e.Mode)
	default:
		c.recordRaw(s, turn, wire.StreamEvent, whole)
	}
}

// recordMode sets the mode in the agent's options.
func (c *Conn) recordMode(s *session, mode string) {
	known := wire.ModeSetting(s.log.State)
	if known != nil && wire.ModeOf(s.log.State) == mode {
		return
	}
	if known != nil && known.ID != wire.SettingMode {
		known = nil
	}
	var o protocol.Options
	if old := s.log.State.Options; old != nil {
		o = *old
	}
	set := protocol.Setting{
		ID: wire.SettingMode, Name: "Mode", Value: mode,
		Choices: []protocol.Choice{{ID: wire.ModeBuild, Label: "Build"}, {ID: wire.ModePlan, Label: "Plan"}},
	}
	if known != nil && mode == wire.ModeBuild {
		set.Value = wire.BuildValue(known, "")
	}
	if known != nil {
		set.Name, set.Choices = known.Name, known.Choices
	}
	isMode := func(s protocol.Setting) bool { return s.ID == wire.SettingMode }
	o.Settings = append(slices.DeleteFunc(slices.Clone(o.Settings), isMode), set)
	c.record(s, codec.Entry{Type: protocol.AgentOptions, Data: o})
}

// recordTextEvent records a chat event of a text or reasoning part.
func (c *Conn) recordTextEvent(s *session, e *wire.ChatEvent) {
	en := codec.Entry{Turn: s.turn.id}
	if e.ProviderMetadata == nil || e.ProviderMetadata.Agentctl == nil {
		e.ProviderMetadata = &wire.ProviderMetadata{Agentctl: &wire.Speaker{}}
	}
	by := e.ProviderMetadata.Agentctl
	switch e.Type {
	case wire.ChatTextStart, wire.ChatReasoningStart:
		en.Type, en.Task, en.Parent = protocol.TextStart, by.Task, by.Parent
		en.Data = protocol.PartStartData{Part: e.ID, Agent: by.Agent}
		if e.Type == wire.ChatReasoningStart {
			en.Type = protocol.ReasoningStart
		}
		c.record(s, en)
	case wire.ChatTextDelta, wire.ChatReasoningDelta:
		en.Type = protocol.TextDelta
		if e.Type == wire.ChatReasoningDelta {
			en.Type = protocol.ReasoningDelta
		}
		if e.Delta == nil {
			return
		}
		for _, piece := range protocol.SplitText(*e.Delta, protocol.MaxText) {
			en.Data = protocol.PartDeltaData{Part: e.ID, Text: piece}
			c.record(s, en)
		}
	default:
		en.Type, en.Data = protocol.TextEnd, protocol.PartEndData{Part: e.ID}
		if e.Type == wire.ChatReasoningEnd {
			en.Type = protocol.ReasoningEnd
		}
		c.record(s, en)
	}
}

// nativeTypes lists the events that chatNative carries.
var nativeTypes = map[protocol.Type]bool{
	protocol.TextContent:       true,
	protocol.ApprovalRequested: true, protocol.ApprovalExplained: true, protocol.ApprovalResolved: true,
	protocol.PlanStarted: true, protocol.PlanUpdated: true, protocol.PlanCompleted: true,
	protocol.PlanInvalid: true, protocol.PlanCancelled: true, protocol.PlanFailed: true,
	protocol.TaskStarted: true, protocol.TaskProgress: true, protocol.TaskCompleted: true,
	protocol.TaskFailed: true, protocol.TaskCancelled: true, protocol.TaskRestarted: true,
	protocol.AggregateStarted: true, protocol.AggregateCompleted: true, protocol.PipelineCompleted: true,
	protocol.ContextUpdated: true, protocol.ContextCompacted: true,
	protocol.AgentOptions: true, protocol.ErrorRaised: true, protocol.RetryScheduled: true,
	protocol.RecoveryStarted: true, protocol.RecoverySucceeded: true, protocol.RecoveryFailed: true,
	protocol.StateExported: true, protocol.StateRestored: true,
	protocol.Notice: true, protocol.Raw: true,
}

// recordNative records a native event of agentctl's server.
func (c *Conn) recordNative(s *session, e *wire.ChatEvent, raw json.RawMessage) {
	var n wire.NativeEvent
	if json.Unmarshal(e.Data, &n) != nil || !nativeTypes[n.Type] {
		c.recordRaw(s, s.turn.id, wire.ChatNative, raw)
		return
	}
	en := codec.Entry{Type: n.Type, Turn: s.turn.id, Task: n.Task, Parent: n.Parent, By: n.By, Data: n.Data}
	switch n.Type {
	case protocol.ApprovalRequested:
		var a protocol.Approval
		if json.Unmarshal(n.Data, &a) != nil || a.Request == "" || len(s.log.State.Approvals) >= maxApprovals {
			return
		}
		if a.Editable || slices.ContainsFunc(a.Options, unsupportedOption) {
			a.Options, a.Editable = slices.DeleteFunc(a.Options, unsupportedOption), false
			en.Data = a
		}
		if len(s.turn.nativeApprovals) < wire.MaxOpen {
			s.turn.nativeApprovals[a.Request] = true
		}
		if a.Tool == "" && len(s.turn.approvalTools) < wire.MaxOpen {
			s.turn.approvalTools[a.Request] = true
		}
	case protocol.ApprovalResolved:
		var d protocol.ApprovalResolvedData
		if json.Unmarshal(n.Data, &d) != nil || s.log.State.PendingApproval(d.Request) == nil {
			return // decided by this client, and recorded then
		}
		s.decisions.Put(n.By, d)
	}
	c.record(s, en)
}

// unsupportedOption reports whether the protocol cannot carry an option.
func unsupportedOption(o protocol.Option) bool { return !wire.SupportsDecision(o.Kind) }

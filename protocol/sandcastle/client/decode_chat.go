package client

import (
	"encoding/json"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
)

// decode decodes a chat event of the turn.
func (t *turn) decode(now time.Time, st *protocol.State, raw json.RawMessage) (events []codec.Entry) {
	var e wire.ChatEvent
	if json.Unmarshal(raw, &e) != nil || e.Type == "" {
		return t.raw(e.Type, raw)
	}
	switch e.Type {
	case wire.ChatApprovalRequest, wire.ChatModeChange, wire.ChatRenamed: // not in the server's buffer
	default:
		t.noteBuffered(raw)
	}
	if t.lastError != nil && e.Type != wire.ChatFinish {
		events = append(events, t.event(protocol.ErrorRaised, protocol.ErrorData{
			Kind: protocol.ErrorKindExecution, Message: *t.lastError,
		}))
		t.lastError = nil
	}
	return append(events, t.decodeEvent(now, st, &e, raw)...)
}

func (t *turn) decodeEvent(now time.Time, st *protocol.State, e *wire.ChatEvent, raw json.RawMessage) []codec.Entry {
	switch e.Type {
	case wire.ChatStart:
		if e.MessageID != "" {
			t.answer = &e.MessageID
		}
	case wire.ChatStartStep, wire.ChatFinishStep: // redundant
	case wire.ChatTextStart, wire.ChatTextDelta, wire.ChatTextEnd, wire.ChatReasoningStart, wire.ChatReasoningDelta,
		wire.ChatReasoningEnd:
		return t.decodeText(e)
	case wire.ChatToolInputStart, wire.ChatToolInputDelta, wire.ChatToolInput, wire.ChatToolInputError,
		wire.ChatToolOutput, wire.ChatToolOutputError, wire.ChatToolDenied:
		if !t.approvalTools[e.ToolCallID] {
			return t.decodeTool(st, e, raw)
		}
	case wire.ChatApprovalRequest:
		return t.ask(now, st, e.ToolCallID, e.ToolName)
	case wire.ChatMetadata:
		t.context = e.InputTokens + e.CacheReadTokens + e.CacheCreationTokens + e.OutputTokens
		return []codec.Entry{t.event(protocol.UsageUpdated, protocol.Usage{
			Input: e.InputTokens, Output: e.OutputTokens, Cached: e.CacheReadTokens, Cost: e.CostUSD,
			Currency: currency(e.CostUSD), Model: e.Model,
		})}
	case wire.ChatError:
		t.lastError = e.ErrorText
	case wire.ChatFinish:
		return t.decodeFinish(e)
	case wire.ChatNative:
		return t.decodeNative(st, e, raw)
	case wire.ChatModeChange:
		if !t.peerIsAgentctl { // its options came before
			return decodeSessionChat(st, t.id, raw, raw)
		}
	case wire.ChatRenamed:
		return decodeSessionChat(st, t.id, raw, raw)
	default:
		return t.raw(e.Type, raw)
	}
	return nil
}

// decodeFinish decodes the end of the answer: usage, and the context usage as the tokens of the
// model's last answer in a window. agentctl's server sends its own event of the context.
func (t *turn) decodeFinish(e *wire.ChatEvent) []codec.Entry {
	t.finish = e.FinishReason
	t.nativeEnd = wire.TurnEndOf(e.MessageMetadata)
	m := e.Metadata
	if m == nil {
		return nil
	}
	t.usage = &protocol.Usage{
		Input: m.InputTokens, Output: m.OutputTokens, Cached: m.CacheRead, Cost: m.CostUSD, Currency: currency(m.CostUSD),
	}
	if m.ContextWindow <= 0 || t.context == 0 || t.peerIsAgentctl {
		return nil
	}
	return []codec.Entry{t.event(protocol.ContextUpdated, protocol.ContextInfo{
		Tokens: t.context, MaxTokens: m.ContextWindow, Percent: 100 * float64(t.context) / float64(m.ContextWindow),
	})}
}

func currency(cost float64) string {
	if cost == 0 {
		return ""
	}
	return "USD"
}

// decodeSessionChat decodes a chat event of the session. whole is the event that contains it.
func decodeSessionChat(st *protocol.State, turn string, raw, whole json.RawMessage) []codec.Entry {
	var e wire.ChatEvent
	_ = json.Unmarshal(raw, &e)
	switch e.Type {
	case wire.ChatRenamed:
		return []codec.Entry{{Type: protocol.SessionUpdated, Data: protocol.SessionUpdatedData{Title: &e.Title}}}
	case wire.ChatModeChange:
		return decodeMode(st, e.Mode)
	}
	return []codec.Entry{rawEntry(turn, wire.StreamEvent, whole)}
}

// decodeMode sets the mode in the agent's options.
func decodeMode(st *protocol.State, mode string) []codec.Entry {
	known := wire.ModeSetting(st)
	if known != nil && wire.ModeOf(st) == mode {
		return nil
	}
	if known != nil && known.ID != wire.SettingMode {
		known = nil
	}
	var o protocol.Options
	if st.Options != nil {
		o = *st.Options
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
	return []codec.Entry{{Type: protocol.AgentOptions, Data: o}}
}

// decodeText decodes a chat event of a text or reasoning part.
func (t *turn) decodeText(e *wire.ChatEvent) (events []codec.Entry) {
	start, delta, end := protocol.TextStart, protocol.TextDelta, protocol.TextEnd
	switch e.Type {
	case wire.ChatReasoningStart, wire.ChatReasoningDelta, wire.ChatReasoningEnd:
		start, delta, end = protocol.ReasoningStart, protocol.ReasoningDelta, protocol.ReasoningEnd
	}
	switch e.Type {
	case wire.ChatTextStart, wire.ChatReasoningStart:
		var by wire.Speaker
		if e.ProviderMetadata != nil && e.ProviderMetadata.Agentctl != nil {
			by = *e.ProviderMetadata.Agentctl
		}
		begin := t.event(start, protocol.PartStartData{Part: e.ID, Agent: by.Agent})
		begin.Task, begin.Parent = by.Task, by.Parent
		return []codec.Entry{begin}
	case wire.ChatTextDelta, wire.ChatReasoningDelta:
		if e.Delta == nil {
			return nil
		}
		for _, piece := range protocol.SplitText(*e.Delta, protocol.MaxText) {
			events = append(events, t.event(delta, protocol.PartDeltaData{Part: e.ID, Text: piece}))
		}
		return events
	}
	return []codec.Entry{t.event(end, protocol.PartEndData{Part: e.ID})}
}

// encoded lists the events that have another message than wire.ChatNative, or none.
var encoded = map[protocol.Type]bool{
	protocol.SessionCreated: true, protocol.SessionUpdated: true, protocol.SessionClosed: true,
	protocol.MessageUser: true, protocol.TurnStarted: true, protocol.TurnEnded: true,
	protocol.TextStart: true, protocol.TextDelta: true, protocol.TextEnd: true, protocol.JoinedDeltas: true,
	protocol.ReasoningStart: true, protocol.ReasoningDelta: true, protocol.ReasoningEnd: true,
	protocol.ToolStarted: true, protocol.ToolInput: true, protocol.ToolOutput: true, protocol.ToolEnded: true,
	protocol.QueueAdded: true, protocol.QueueScheduled: true, protocol.QueueUpdated: true,
	protocol.QueueRemoved: true, protocol.QueueMoved: true, protocol.QueueHeld: true, protocol.QueueReleased: true,
	protocol.UsageUpdated: true,
}

// isNative reports whether wire.ChatNative carries the events of a type.
func isNative(t protocol.Type) bool {
	row := protocol.EventTypeOf(t)
	return row != nil && !row.Ephemeral && !encoded[t]
}

// maxApprovals bounds the pending approvals of a session.
const maxApprovals = 256

// decodeNative decodes a native event of agentctl's server.
func (t *turn) decodeNative(st *protocol.State, e *wire.ChatEvent, raw json.RawMessage) []codec.Entry {
	var n wire.NativeEvent
	if json.Unmarshal(e.Data, &n) != nil || !isNative(n.Type) {
		return t.raw(wire.ChatNative, raw)
	}
	en := codec.Entry{Type: n.Type, Turn: t.id, Task: n.Task, Parent: n.Parent, By: n.By, Data: n.Data}
	switch n.Type {
	case protocol.ApprovalRequested:
		var a protocol.Approval
		if json.Unmarshal(n.Data, &a) != nil || a.Request == "" || len(st.Approvals) >= maxApprovals {
			return nil
		}
		if a.Editable || slices.ContainsFunc(a.Options, unsupportedOption) {
			a.Options, a.Editable = slices.DeleteFunc(a.Options, unsupportedOption), false
			en.Data = a
		}
		if len(t.nativeApprovals) < wire.MaxOpen {
			t.nativeApprovals[a.Request] = true
		}
		if a.Tool == "" && len(t.approvalTools) < wire.MaxOpen {
			t.approvalTools[a.Request] = true
		}
	case protocol.ApprovalResolved:
		var d protocol.ApprovalResolvedData
		if json.Unmarshal(n.Data, &d) != nil || st.PendingApproval(d.Request) == nil {
			return nil // decided by this client, and recorded then
		}
		t.decisions.Put(n.By, d)
	}
	return []codec.Entry{en}
}

// unsupportedOption reports whether the protocol cannot carry an option.
func unsupportedOption(o protocol.Option) bool { return !wire.SupportsDecision(o.Kind) }

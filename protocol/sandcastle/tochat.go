package sandcastle

import (
	"encoding/json"

	"agentctl/protocol"
)

// The agent's setting that a send may choose, and what it may choose.
const (
	settingMode = "mode"
	modePlan    = "plan"
	modeBuild   = "build"
)

// translate says an event that was applied to the state.
func (v *view) translate(e *protocol.Event, at, before int) {
	switch e.Type {
	case protocol.QueueAdded, protocol.QueueUpdated, protocol.QueueMoved, protocol.QueueRemoved:
		v.queue(e, at, before)
	case protocol.MessageUser:
		v.clear()
		v.tell(sessionEvent{Tag: userMessage, Message: startedOf(&v.state.Turn.Message)})
	case protocol.TurnStarted:
		var d protocol.TurnStartedData
		_ = e.Decode(&d)
		if v.turn == nil || d.Resumed {
			return
		}
		v.tell(sessionEvent{Tag: sessionStarted, TurnID: e.Turn, MessageID: d.MessageID, StartedAt: stamp(e.Time)})
		v.chat(chatEvent{Type: chatStart, MessageID: e.Turn})
	case protocol.SessionUpdated:
		var d protocol.SessionUpdatedData
		if _ = e.Decode(&d); d.Title != nil {
			v.tellChat(chatEvent{Type: chatRenamed, SessionID: v.id, Title: *d.Title})
		}
	case protocol.AgentOptions:
		v.foreign(e)
		if mode := v.mode(); mode != nil && (mode.Value == modePlan || mode.Value == modeBuild) {
			v.tellChat(chatEvent{Type: chatModeChange, Mode: mode.Value})
		}
	case protocol.TurnEnded:
		v.ended(e)
	case protocol.UsageUpdated:
		if v.turn != nil {
			v.chat(usageOf(v.state.Usage))
		}
	default:
		if v.turn != nil && v.turn.id == e.Turn {
			v.inTurn(e)
		}
	}
}

// inTurn says what happens within the turn under way.
func (v *view) inTurn(e *protocol.Event) {
	switch e.Type {
	case protocol.TextStart, protocol.ReasoningStart, protocol.TextEnd, protocol.ReasoningEnd:
		v.part(e)
	case protocol.TextDelta, protocol.ReasoningDelta, protocol.ToolInput, protocol.ToolOutput:
		if d, ok := e.Delta(); ok {
			v.delta(d, e.Task, e.Parent)
			return
		}
		v.tool(e)
	case protocol.JoinedDeltas:
		var d protocol.JoinedData
		_ = e.Decode(&d)
		for _, p := range d.Parts {
			v.delta(protocol.Delta{Part: p.Part, Kind: p.Kind, Text: p.Text}, p.Task, p.Parent)
		}
	case protocol.ToolStarted, protocol.ToolEnded:
		v.tool(e)
	case protocol.ApprovalRequested:
		v.asked(e)
	case protocol.ApprovalResolved:
		v.foreign(e)
		v.resolved(e)
	default:
		v.foreign(e)
	}
}

// foreign says an event of the turn that they have no word for.
func (v *view) foreign(e *protocol.Event) {
	if v.turn == nil || v.turn.id != e.Turn {
		return
	}
	n := nativeEvent{Type: e.Type, Task: e.Task, Parent: e.Parent, By: e.By, Data: e.Data}
	v.chat(chatEvent{Type: chatNative, Data: protocol.MustEncode(n), Transient: true})
}

// delta says text that was appended to a part or a tool.
func (v *view) delta(d protocol.Delta, task, parent string) {
	switch d.Kind {
	case protocol.KindText, protocol.KindReasoning:
		if v.turn.open(d.Kind, d.Part) {
			v.chat(chatEvent{Type: startOf(d.Kind), ID: d.Part, ProviderMetadata: voiceOf("", task, parent)})
		}
		typ := chatTextDelta
		if d.Kind == protocol.KindReasoning {
			typ = chatReasoningDelta
		}
		v.chat(chatEvent{Type: typ, ID: d.Part, Delta: &d.Text})
	case protocol.KindInput:
		v.toolNamed(d.Part, "", "", parent)
		v.chat(chatEvent{Type: chatToolInputDelta, ToolCallID: d.Part, InputTextDelta: &d.Text, ParentToolCallID: parent})
	case protocol.KindOutput:
		v.output(v.toolNamed(d.Part, "", "", parent), d.Part, parent, &protocol.ToolOutputData{Text: d.Text})
	}
}

func (v *view) part(e *protocol.Event) {
	var d protocol.PartStartData
	_ = e.Decode(&d)
	kind, start := protocol.KindText, e.Type == protocol.TextStart
	if e.Type == protocol.ReasoningStart || e.Type == protocol.ReasoningEnd {
		kind, start = protocol.KindReasoning, e.Type == protocol.ReasoningStart
	}
	if start {
		v.turn.open(kind, d.Part)
		v.chat(chatEvent{Type: startOf(kind), ID: d.Part, ProviderMetadata: voiceOf(d.Agent, e.Task, e.Parent)})
		return
	}
	if v.turn.open(kind, d.Part) { // an end without a beginning
		v.chat(chatEvent{Type: startOf(kind), ID: d.Part, ProviderMetadata: voiceOf("", e.Task, e.Parent)})
	}
	v.turn.close(kind, d.Part)
	typ := chatTextEnd
	if kind == protocol.KindReasoning {
		typ = chatReasoningEnd
	}
	v.chat(chatEvent{Type: typ, ID: d.Part})
}

func startOf(kind protocol.Kind) string {
	if kind == protocol.KindReasoning {
		return chatReasoningStart
	}
	return chatTextStart
}

func voiceOf(agent, task, parent string) *providerMetadata {
	if agent == "" && task == "" && parent == "" {
		return nil
	}
	return &providerMetadata{&voice{agent, task, parent}}
}

// ended says the end of a turn: what was used, why it failed, finish, then that the session stopped. The buffer is empty by then.
func (v *view) ended(e *protocol.Event) {
	var d protocol.TurnEndedData
	_ = e.Decode(&d)
	if v.turn == nil {
		return
	}
	if d.Failed() && d.Message != "" {
		v.tellChat(chatEvent{Type: chatError, ErrorText: &d.Message})
	}
	finish := chatEvent{Type: chatFinish, FinishReason: finishReason(d.Reason), MessageMetadata: protocol.MustEncode(answerEnd{&d})}
	if u := d.Usage; u != nil {
		finish.Metadata = &metadata{ClaudeSessionID: v.id, CostUSD: u.Cost, InputTokens: u.Input, OutputTokens: u.Output, CacheRead: u.Cached}
		if v.state.Context != nil {
			finish.Metadata.ContextWindow = v.state.Context.MaxTokens
		}
	}
	v.tellChat(finish)
	v.turn, v.buffer = nil, buffer{}
	v.tell(sessionEvent{Tag: sessionStopped, TurnID: e.Turn, Reason: stopReason(d.Reason)})
}

func usageOf(u *protocol.Usage) chatEvent {
	return chatEvent{
		Type: chatMetadata, Model: u.Model, InputTokens: u.Input, OutputTokens: u.Output, CacheReadTokens: u.Cached, CostUSD: u.Cost,
	}
}

// mode is the agent's setting of that name, or nil.
func (v *view) mode() *protocol.Setting {
	if v.state == nil || v.state.Options == nil {
		return nil
	}
	for i := range v.state.Options.Settings {
		if s := &v.state.Options.Settings[i]; s.ID == settingMode {
			return s
		}
	}
	return nil
}

// offersMode reports whether the agent can be set to a mode in which it is not.
func (v *view) offersMode(mode string) bool {
	s := v.mode()
	if mode == "" || s == nil || s.Value == mode {
		return false
	}
	for _, c := range s.Choices {
		if c.ID == mode {
			return true
		}
	}
	return false
}

// turnID names the turn under way; empty: none.
func (v *view) turnID() string {
	if v.turn == nil {
		return ""
	}
	return v.turn.id
}

var jsonNull = json.RawMessage("null")

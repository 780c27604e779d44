package server

import (
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/sandcastle/wire"
)

// encodeEvent encodes an event after it was applied to the state.
func (sub *subscription) encodeEvent(e *protocol.Event, at, before int) {
	switch e.Type {
	case protocol.QueueAdded, protocol.QueueUpdated, protocol.QueueMoved, protocol.QueueRemoved:
		sub.encodeQueue(e, at, before)
	case protocol.MessageUser:
		sub.resetTurn()
		sub.sendEvent(wire.SessionEvent{Tag: wire.UserMessage, Message: wire.NewStartedMessage(&sub.State.Turn.Message)})
	case protocol.TurnStarted:
		var d protocol.TurnStartedData
		_ = e.Decode(&d)
		if sub.turn == nil || d.Resumed {
			return
		}
		sub.sendStarted(wire.SessionEvent{
			Tag: wire.SessionStarted, TurnID: e.Turn, MessageID: d.MessageID, StartedAt: wire.FormatTime(e.Time),
		})
		sub.sendChat(wire.ChatEvent{Type: wire.ChatStart, MessageID: e.Turn, ClaudeSessionID: sub.Session})
	case protocol.SessionUpdated:
		var d protocol.SessionUpdatedData
		if _ = e.Decode(&d); d.Title != nil {
			sub.sendTransientChat(wire.ChatEvent{Type: wire.ChatRenamed, SessionID: sub.Session, Title: *d.Title})
		}
	case protocol.AgentOptions:
		sub.encodeNative(e)
		sub.encodeModeChange()
	case protocol.TurnEnded:
		sub.encodeTurnEnded(e)
	case protocol.UsageUpdated:
		if sub.turn != nil {
			sub.sendChat(usageEvent(sub.State.Usage))
		}
	default:
		if sub.turn != nil && sub.turn.id == e.Turn {
			sub.encodeTurnEvent(e)
		}
	}
}

// encodeTurnEvent encodes an event within the current turn.
func (sub *subscription) encodeTurnEvent(e *protocol.Event) {
	switch e.Type {
	case protocol.TextStart, protocol.ReasoningStart, protocol.TextEnd, protocol.ReasoningEnd:
		sub.encodePart(e)
	case protocol.TextDelta, protocol.ReasoningDelta, protocol.ToolInput, protocol.ToolOutput:
		if d, ok := e.Delta(); ok {
			sub.encodeDelta(d, e.Task, e.Parent)
			return
		}
		sub.encodeTool(e)
	case protocol.JoinedDeltas:
		var d protocol.JoinedData
		_ = e.Decode(&d)
		for _, p := range d.Parts {
			sub.encodeDelta(protocol.Delta{Part: p.Part, Kind: p.Kind, Text: p.Text}, p.Task, p.Parent)
		}
	case protocol.ToolStarted, protocol.ToolEnded:
		sub.encodeTool(e)
	case protocol.ApprovalRequested:
		sub.encodeApproval(e)
	case protocol.ApprovalResolved:
		sub.encodeNative(e)
		sub.encodeResolution(e)
	default:
		sub.encodeNative(e)
	}
}

// encodeNative sends an event of the turn that the protocol has no message for.
func (sub *subscription) encodeNative(e *protocol.Event) {
	if sub.turn == nil || sub.turn.id != e.Turn {
		return
	}
	n := wire.NativeEvent{Type: e.Type, Task: e.Task, Parent: e.Parent, By: e.By, Data: e.Data}
	sub.sendChat(wire.ChatEvent{Type: wire.ChatNative, Data: protocol.MustEncode(n), Transient: true})
}

// encodeDelta encodes text appended to a part or a tool.
func (sub *subscription) encodeDelta(d protocol.Delta, task, parent string) {
	switch d.Kind {
	case protocol.KindText, protocol.KindReasoning:
		if sub.turn.openPart(d.Kind, d.Part) {
			sub.sendChat(wire.ChatEvent{
				Type: startType(d.Kind), ID: d.Part, ProviderMetadata: speakerMetadata("", task, parent),
			})
		}
		typ := wire.ChatTextDelta
		if d.Kind == protocol.KindReasoning {
			typ = wire.ChatReasoningDelta
		}
		sub.sendChat(wire.ChatEvent{Type: typ, ID: d.Part, Delta: &d.Text})
	case protocol.KindInput:
		sub.ensureTool(d.Part, "", "", parent)
		sub.sendChat(wire.ChatEvent{
			Type: wire.ChatToolInputDelta, ToolCallID: d.Part, InputTextDelta: &d.Text, ParentToolCallID: parent,
		})
	case protocol.KindOutput:
		sub.appendToolOutput(sub.ensureTool(d.Part, "", "", parent), d.Part, parent,
			&protocol.ToolOutputData{Text: d.Text})
	}
}

func (sub *subscription) encodePart(e *protocol.Event) {
	var d protocol.PartStartData
	_ = e.Decode(&d)
	kind, start := protocol.KindText, e.Type == protocol.TextStart
	if e.Type == protocol.ReasoningStart || e.Type == protocol.ReasoningEnd {
		kind, start = protocol.KindReasoning, e.Type == protocol.ReasoningStart
	}
	if start {
		sub.turn.openPart(kind, d.Part)
		sub.sendChat(wire.ChatEvent{
			Type: startType(kind), ID: d.Part, ProviderMetadata: speakerMetadata(d.Agent, e.Task, e.Parent),
		})
		return
	}
	if sub.turn.openPart(kind, d.Part) { // an end without a start
		sub.sendChat(wire.ChatEvent{
			Type: startType(kind), ID: d.Part, ProviderMetadata: speakerMetadata("", e.Task, e.Parent),
		})
	}
	sub.turn.closePart(kind, d.Part)
	typ := wire.ChatTextEnd
	if kind == protocol.KindReasoning {
		typ = wire.ChatReasoningEnd
	}
	sub.sendChat(wire.ChatEvent{Type: typ, ID: d.Part})
}

func startType(kind protocol.Kind) string {
	if kind == protocol.KindReasoning {
		return wire.ChatReasoningStart
	}
	return wire.ChatTextStart
}

func speakerMetadata(agent, task, parent string) *wire.ProviderMetadata {
	if agent == "" && task == "" && parent == "" {
		return nil
	}
	return &wire.ProviderMetadata{Agentctl: &wire.Speaker{Agent: agent, Task: task, Parent: parent}}
}

// encodeTurnEnded encodes the end of a turn: the error, finish, then SessionStopped. The buffer is
// empty by then.
func (sub *subscription) encodeTurnEnded(e *protocol.Event) {
	var d protocol.TurnEndedData
	_ = e.Decode(&d)
	if sub.turn == nil {
		return
	}
	if d.Failed() && d.Message != "" {
		sub.sendTransientChat(wire.ChatEvent{Type: wire.ChatError, ErrorText: &d.Message})
	}
	finish := wire.ChatEvent{
		Type: wire.ChatFinish, FinishReason: wire.FinishReason(d.Reason),
		MessageMetadata: protocol.MustEncode(wire.AnswerMetadata{Agentctl: &d}),
	}
	if u := d.Usage; u != nil {
		finish.Metadata = &wire.Metadata{
			ClaudeSessionID: sub.Session, CostUSD: u.Cost, InputTokens: u.Input, OutputTokens: u.Output,
			CacheRead: u.Cached,
		}
		if sub.State.Context != nil {
			finish.Metadata.ContextWindow = sub.State.Context.MaxTokens
		}
	}
	sub.sendTransientChat(finish)
	sub.turn, sub.buffer = nil, turnBuffer{}
	sub.sendEvent(wire.SessionEvent{Tag: wire.SessionStopped, TurnID: e.Turn, Reason: wire.StopReason(d.Reason)})
}

func usageEvent(u *protocol.Usage) wire.ChatEvent {
	return wire.ChatEvent{Type: wire.ChatMetadata, ChatUsage: wire.ChatUsage{
		Model: u.Model, InputTokens: u.Input, OutputTokens: u.Output, CacheReadTokens: u.Cached, CostUSD: u.Cost,
	}}
}

// turnID returns the current turn, or "".
func (sub *subscription) turnID() string {
	if sub.turn == nil {
		return ""
	}
	return sub.turn.id
}

var jsonNull = json.RawMessage("null")

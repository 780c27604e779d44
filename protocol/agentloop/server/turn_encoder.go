package server

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// A turnEncoder encodes the events of a turn, as far as the protocol can express them, and keeps
// the state of what was sent. Its methods return the messages to send, in order.
type turnEncoder struct {
	newID     func(prefix string) string // static after construction
	now       time.Time
	loading   bool
	failed    bool // an error was sent, and no output of the agent since
	reasoning []*reasoningBuffer
	calls     []*toolCall
	buffered  int // bytes
}

// Bounds of the buffers.
const (
	maxReasoning = 64 << 10 // bytes; longer reasoning is sent in pieces
	maxBuffered  = 4 << 20  // bytes of output of all calls; more is counted and dropped
	maxOpen      = 1024     // calls, or reasoning parts
)

// A reasoningBuffer is reasoning that is sent as a whole.
type reasoningBuffer struct {
	id    string
	text  []byte
	began time.Time
}

// reset starts another turn.
func (t *turnEncoder) reset() { *t = turnEncoder{newID: t.newID, now: t.now, loading: t.loading} }

// event encodes an event.
func (t *turnEncoder) event(now time.Time, e *protocol.Event) []message {
	t.now = now
	out := t.sendDueCalls(e)
	switch e.Type {
	case protocol.TextDelta, protocol.ReasoningStart, protocol.ReasoningDelta, protocol.ReasoningEnd,
		protocol.JoinedDeltas:
		return append(out, t.parts(e)...)
	}
	out = append(out, t.flushReasoning(e, "")...)
	switch e.Type {
	case protocol.MessageUser:
		t.reset()
		text := wire.MessageText(&codec.DecodeEvent[protocol.MessageUserData](e).Message)
		return append(append(out, t.setLoading(true)...), t.item(wire.NewMessageItem("", wire.User, text)))
	case protocol.MessageSteered:
		text := wire.MessageText(&codec.DecodeEvent[protocol.MessageSteeredData](e).Message)
		return append(out, t.item(wire.NewMessageItem("", wire.User, text)))
	case protocol.MessageResolved:
		if d := codec.DecodeEvent[protocol.MessageResolvedData](e); d.Outcome != protocol.SteerTakenIn {
			line, _ := e.Line()
			return append(out, t.system(wire.WarningSign+line.Text))
		}
	case protocol.TurnStarted:
		return append(out, t.setLoading(true)...)
	case protocol.TurnEnded:
		return append(out, t.end(e, codec.DecodeEvent[protocol.TurnEndedData](e))...)
	case protocol.ToolStarted, protocol.ToolInput, protocol.ToolOutput, protocol.ToolEnded:
		return append(out, t.tool(e)...)
	case protocol.ApprovalRequested:
		t.holdCall(codec.DecodeEvent[protocol.Approval](e))
	case protocol.ApprovalExplained, protocol.ApprovalResolved:
	case protocol.ContextUpdated:
		return append(out, contextMessage(codec.DecodeEvent[protocol.ContextInfo](e)))
	case protocol.ContextCompacted:
		d := codec.DecodeEvent[protocol.ContextCompactedData](e)
		return append(out, message{wire.ContextCompactedType, wire.ContextCompacted{
			OldTokenCount: d.Before, NewTokenCount: d.After, ReductionPercent: d.Percent, Strategy: d.Strategy,
		}})
	case protocol.ErrorRaised:
		return append(out, t.raise(codec.DecodeEvent[protocol.ErrorData](e))...)
	case protocol.Raw: // that came from AgentLoop
		d := codec.DecodeEvent[protocol.RawData](e)
		if d.Source == wire.Name && d.Method == wire.ResponseItemType && d.Data != nil {
			return append(out, message{wire.ResponseItemType, d.Data})
		}
	default:
		if line := wire.NoticeText(e); line != "" {
			return append(out, t.system(line))
		}
	}
	return out
}

// parts sends the agent's text immediately, and reasoning as a whole.
func (t *turnEncoder) parts(e *protocol.Event) (out []message) {
	switch e.Type {
	case protocol.JoinedDeltas:
		for _, p := range codec.DecodeEvent[protocol.JoinedData](e).Parts {
			out = append(out, t.delta(e, p.Kind, p.Part, p.Text)...)
		}
	case protocol.TextDelta:
		d := codec.DecodeEvent[protocol.PartDeltaData](e)
		return t.delta(e, protocol.KindText, d.Part, d.Text)
	case protocol.ReasoningStart:
		return t.bufferReasoning(e, codec.DecodeEvent[protocol.PartStartData](e).Part, "")
	case protocol.ReasoningDelta:
		d := codec.DecodeEvent[protocol.PartDeltaData](e)
		return t.delta(e, protocol.KindReasoning, d.Part, d.Text)
	case protocol.ReasoningEnd:
		id := itemID(e, codec.DecodeEvent[protocol.PartEndData](e).Part)
		if i := t.reasoningIndex(id); i >= 0 {
			out = t.sendReasoning(e, t.reasoning[i])
			t.reasoning = slices.Delete(t.reasoning, i, i+1)
		}
	}
	return out
}

func (t *turnEncoder) delta(e *protocol.Event, kind protocol.Kind, part, text string) []message {
	if kind == protocol.KindReasoning {
		return append(t.flushReasoning(e, itemID(e, part)), t.bufferReasoning(e, part, text)...)
	}
	out := t.flushReasoning(e, "")
	switch kind {
	case protocol.KindText:
		if text != "" {
			out = append(out, t.item(wire.NewMessageItem(itemID(e, part), wire.Assistant, text)))
		}
	case protocol.KindOutput:
		c, dropped := t.openCall(part)
		t.appendOutput(c, text)
		return append(out, dropped...)
	case protocol.KindInput:
		c, dropped := t.openCall(part)
		t.appendArguments(c, text)
		return append(out, dropped...)
	}
	return out
}

// end ends the turn: loading false, and agent_finished unless the turn failed.
func (t *turnEncoder) end(e *protocol.Event, d *protocol.TurnEndedData) (out []message) {
	for _, c := range t.calls {
		out = append(append(out, t.sendCall(c)...), t.sendOutput(c, &protocol.ToolEndedData{Status: protocol.ToolCancelled}))
	}
	if d.Failed() && !t.failed {
		message := cmp.Or(d.Message, "the turn ended: "+string(d.Reason))
		out = append(out, t.failure(errorDetails{Error: message, Code: cmp.Or(string(d.Code), string(d.Reason))})...)
	}
	switch d.Reason {
	case protocol.ReasonInterrupted:
		out = append(out, t.system("Interrupted."))
	case protocol.ReasonDenied:
		out = append(out, t.system(wire.EndedByDenial))
	}
	out = append(out, t.setLoading(false)...)
	if !d.Failed() {
		out = append(out, message{wire.FinishedType, wire.AgentFinished{ResponseID: e.Turn}})
	}
	t.reset()
	return out
}

// raise sends an error event: a recoverable one as a warning, others as a failure. Details are its
// class, the provider's status and the names of fields.
func (t *turnEncoder) raise(d *protocol.ErrorData) []message {
	if d.Recoverable {
		return []message{t.system(wire.WarningSign + d.Message)}
	}
	r := errorDetails{Error: d.Message, Fields: slices.Sorted(maps.Keys(d.Fields))}
	if d.Code != "" {
		r.Code = string(d.Code)
	}
	if status, err := strconv.Atoi(d.Details["provider_status"]); err == nil {
		r.Code = status
	}
	t.failed = true
	return t.failure(r)
}

// failure sends a failure of the agent in both forms: the system message of the real system and the
// error of the document. The prefix of the item's id marks the repetition.
func (t *turnEncoder) failure(d errorDetails) []message {
	warning := wire.NewMessageItem(t.newID(wire.FailurePrefix), wire.System, wire.WarningSign+d.Error)
	return []message{t.item(warning), errorMessage(wire.InputFailed, d)}
}

// system returns a system message.
func (t *turnEncoder) system(text string) message {
	return t.item(wire.NewMessageItem(t.newID("sys"), wire.System, text))
}

// item returns the message of an item.
func (t *turnEncoder) item(it wire.Item) message {
	if it.Role == wire.Assistant || it.Type != wire.MessageItem {
		t.failed = false // the turn continues
	}
	return message{wire.ResponseItemType, it}
}

// setLoading reports whether the agent works, if that changed.
func (t *turnEncoder) setLoading(on bool) []message {
	if on == t.loading {
		return nil
	}
	t.loading = on
	return []message{{wire.LoadingType, wire.LoadingState{Loading: on}}}
}

// itemID returns an id that is unique in the session: part ids are unique in their turn only.
func itemID(e *protocol.Event, part string) string {
	if e.Turn == "" {
		return part
	}
	return e.Turn + "." + part
}

// reasoningIndex returns the index of the buffer of an item; -1: none.
func (t *turnEncoder) reasoningIndex(id string) int {
	return slices.IndexFunc(t.reasoning, func(r *reasoningBuffer) bool { return r.id == id })
}

// bufferReasoning appends reasoning to its buffer.
func (t *turnEncoder) bufferReasoning(e *protocol.Event, part, text string) (out []message) {
	id := itemID(e, part)
	i := t.reasoningIndex(id)
	if i < 0 {
		if len(t.reasoning) == maxOpen {
			out = t.flushReasoning(e, "")
		}
		i = len(t.reasoning)
		t.reasoning = append(t.reasoning, &reasoningBuffer{id: id, began: e.Time})
	}
	r := t.reasoning[i]
	if r.text = append(r.text, text...); len(r.text) >= maxReasoning {
		out = append(out, t.sendReasoning(e, r)...)
	}
	return out
}

// flushReasoning sends the buffered reasoning of all items except one.
func (t *turnEncoder) flushReasoning(e *protocol.Event, but string) (out []message) {
	open := t.reasoning
	t.reasoning = nil
	for _, r := range open {
		if r.id == but {
			t.reasoning = append(t.reasoning, r)
			continue
		}
		out = append(out, t.sendReasoning(e, r)...)
	}
	return out
}

func (t *turnEncoder) sendReasoning(e *protocol.Event, r *reasoningBuffer) []message {
	if len(r.text) == 0 {
		return nil
	}
	took := float64(max(0, e.Time.Sub(r.began).Milliseconds()))
	text := string(r.text)
	r.text = nil
	return []message{t.item(wire.Item{
		ID: r.id, Type: wire.ReasoningItem, Summary: wire.Content{{Type: wire.SummaryText, Text: text}}, DurationMS: &took,
	})}
}

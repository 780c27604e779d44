package session

import (
	"encoding/json"
	"time"

	"agentctl/protocol"
	"agentctl/server/trace"
)

// trace returns reply, which also ends the span of a command that changes state. It sets the
// command's context.
func (h *Hub) trace(c *protocol.Command, who *Caller, reply func(json.RawMessage, error)) func(json.RawMessage, error) {
	if t := protocol.CommandOf(c.Command); t == nil || !t.Changes {
		who.Trace = trace.Context{}
		return reply
	}
	span := h.cfg.Traces.Begin(who.Trace, "command "+string(c.Command), time.Now())
	if span == nil {
		return reply
	}
	who.Trace = span.Of()
	return func(body json.RawMessage, err error) {
		reply(body, err)
		span.End(time.Now(), string(protocol.CodeOf(err))) // without the session, which c may name by its name
	}
}

// traceCommit returns reply, which also ends the span of the commit that a command waits for.
func (h *Hub) traceCommit(cmd *command) func(json.RawMessage, error) {
	if cmd.trace == (trace.Context{}) {
		return cmd.reply
	}
	span := h.cfg.Traces.Begin(cmd.trace, "commit", time.Now())
	return func(body json.RawMessage, err error) {
		span.End(time.Now(), string(protocol.CodeOf(err)))
		cmd.reply(body, err)
	}
}

// A turnTrace makes the spans of a session's turns from its events. It is owned by the session's
// goroutine. The nil turnTrace makes none.
type turnTrace struct {
	exporter *trace.Exporter
	senders  map[string]trace.Context // message → the command that sent it, until its turn
	turn     *trace.Span              // nil: none
	open     map[string]*trace.Span   // tools and approvals of the turn
}

func newTurnTrace(e *trace.Exporter) *turnTrace {
	if e == nil {
		return nil
	}
	return &turnTrace{exporter: e, senders: map[string]trace.Context{}, open: map[string]*trace.Span{}}
}

// sent notes the command that sent a message.
func (t *turnTrace) sent(message string, by trace.Context) {
	if t != nil {
		t.senders[message] = by
	}
}

// note notes an event.
func (t *turnTrace) note(e *protocol.Event) {
	if t == nil {
		return
	}
	switch e.Type {
	case protocol.MessageUser:
		t.begin(e)
	case protocol.QueueRemoved:
		d := decodeEvent[protocol.QueueRemovedData](e)
		if d.Reason != protocol.RemovedStarted {
			delete(t.senders, d.MessageID)
		}
	case protocol.ToolStarted:
		d := decodeEvent[protocol.ToolStartedData](e)
		t.part("tool "+d.Tool, "tool", e, trace.Attribute{Key: "agentctl.tool", Value: d.Name})
	case protocol.ToolEnded:
		d := decodeEvent[protocol.ToolEndedData](e)
		code := ""
		if d.Status != protocol.ToolCompleted {
			code = string(d.Status)
		}
		t.endPart("tool "+d.Tool, e, code)
	case protocol.ApprovalRequested:
		d := decodeEvent[protocol.Approval](e)
		t.part("approval "+d.Request, "approval", e, trace.Attribute{Key: "agentctl.kind", Value: d.Kind})
	case protocol.ApprovalResolved:
		d := decodeEvent[protocol.ApprovalResolvedData](e)
		t.endPart("approval "+d.Request, e, "", trace.Attribute{Key: "agentctl.outcome", Value: string(d.Outcome)})
	case protocol.TurnEnded:
		d := decodeEvent[protocol.TurnEndedData](e)
		for key := range t.open {
			t.endPart(key, e, "")
		}
		t.turn.End(e.Time, string(d.Code), trace.Attribute{Key: "agentctl.reason", Value: string(d.Reason)})
		t.turn = nil
	}
}

// begin begins the span of a turn with its first message.
func (t *turnTrace) begin(e *protocol.Event) {
	if t.turn != nil || e.Turn == "" {
		return
	}
	d := decodeEvent[protocol.MessageUserData](e)
	sender := t.senders[d.MessageID]
	delete(t.senders, d.MessageID)
	t.turn = t.exporter.Begin(sender, "turn", e.Time,
		trace.Attribute{Key: "agentctl.session", Value: e.Session},
		trace.Attribute{Key: "agentctl.turn", Value: e.Turn})
}

// part begins a span below that of the turn.
func (t *turnTrace) part(key, name string, e *protocol.Event, attributes ...trace.Attribute) {
	if t.turn != nil && t.open[key] == nil {
		t.open[key] = t.exporter.Begin(t.turn.Of(), name, e.Time, attributes...)
	}
}

func (t *turnTrace) endPart(key string, e *protocol.Event, code string, attributes ...trace.Attribute) {
	t.open[key].End(e.Time, code, attributes...)
	delete(t.open, key)
}

// decodeEvent returns the data of an event, which the state has decoded before.
func decodeEvent[T any](e *protocol.Event) (d T) {
	_ = e.Decode(&d)
	return d
}

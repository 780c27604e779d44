package client

import (
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// A frame is a frame of the server about a session, and the native events that it is decoded to.
type frame struct {
	*wire.Message
	event      string
	data       []byte // the whole frame
	meta       wire.Fields
	content    wire.Fields // content, if it is an object
	at         time.Time
	namesTurns bool // the server names turns, as agentctl's does
	capTurns   bool // it announced so

	now     time.Time
	arrived *seqTracker     // the frames before it on the connection
	state   *protocol.State // of the session before events
	events  []codec.Entry
	ofTask  bool // the events are of a task
}

// newFrame returns a frame that arrived on a connection. Its session is not known yet.
func (r *receiver) newFrame(m *wire.Message, data []byte) *frame {
	f := &frame{
		Message: m, event: unprefixed(string(m.Event)), data: data, meta: wire.ParseObject(m.Metadata),
		content: wire.ParseObject(m.Content), capTurns: r.x.capabilities[wire.CapTurns], now: r.x.Now, arrived: &r.x.arrived,
	}
	f.namesTurns = f.meta.Has("turn_id") || f.capTurns
	return f
}

// unprefixed removes the namespace that a server may put before an event name.
func unprefixed(event string) string {
	known := func(event string) bool { return decoders[event] != nil || slices.Contains(handledEvents, event) }
	if known(event) {
		return event
	}
	for i := range len(event) {
		if event[i] == '.' && known(event[i+1:]) {
			return event[i+1:]
		}
	}
	return event
}

// turnID returns the turn of the frame, or "".
func (f *frame) turnID() string {
	if id := clipID(f.meta.Str("turn_id")); id != "" {
		return id
	}
	if t := f.state.Turn; t != nil && !f.capTurns {
		return t.Turn
	}
	return ""
}

// add adds an event with the frame's turn, task, parent, actor and time.
func (f *frame) add(t protocol.Type, data any) {
	f.events = append(f.events, codec.Entry{
		Type: t, Turn: f.turnID(), Task: clipID(f.meta.Str("task_id")), Parent: clipID(f.meta.Str("parent_id")),
		By: f.actor(), Time: f.at, Data: data,
	})
}

// addRaw adds the frame without a native equivalent.
func (f *frame) addRaw() {
	e := codec.Entry{Type: protocol.Raw, Data: codec.Raw(wire.Name, f.event, f.data)}
	if t := f.state.Turn; t != nil {
		e.Turn = t.Turn
	}
	f.events = append(f.events, e)
}

func (f *frame) actor() *protocol.Actor {
	var by protocol.Actor
	if !f.meta.Decode("by", &by) || by.Name == "" {
		return nil
	}
	by.Name, by.Subject = clipID(by.Name), clipID(by.Subject)
	return &by
}

// text returns the frame's content as text.
func (f *frame) text() string { return wire.Text(f.Content) }

// usage decodes tokens_used.
func (f *frame) usage() *protocol.Usage {
	u := new(protocol.Usage)
	o := wire.ParseObject(f.meta["tokens_used"])
	if o == nil {
		return nil
	}
	if !f.meta.Decode("tokens_used", u) {
		*u = protocol.Usage{Input: o.Int("input"), Output: o.Int("output")}
	}
	return u
}

func (f *frame) executionMS() int64 { return f.meta.Int("execution_time_ms") }

// turnEnd decodes the end of a turn, which is d unless the server gives a reason.
func (f *frame) turnEnd(d protocol.TurnEndedData) protocol.TurnEndedData {
	if reason := f.meta.Str("reason"); f.namesTurns && reason != "" {
		d.Reason, d.Message = protocol.Reason(clipID(reason)), f.meta.Str("message")
		d.Code = protocol.Code(clipID(f.meta.Str("code")))
	}
	d.Usage, d.DurationMS = f.usage(), f.executionMS()
	if turn := f.state.Turn; turn != nil && d.DurationMS == 0 && !f.namesTurns {
		ended := f.now // the client's clock timed the start
		if f.meta.Has("orig_seq") {
			ended = f.at
		}
		d.DurationMS = max(0, ended.Sub(turn.Started).Milliseconds())
	}
	return d
}

package sandcastle

import (
	"encoding/json"

	"agentctl/protocol"
)

// A phase is where a view stands.
type phase int

const (
	joining  phase = iota // subscribe was sent; events are of an earlier one and ignored
	catching              // events of the past come
	live
	paused // not followed, until the client takes what it was sent
	gone   // deleted
)

// A view is a session as the client's streams see it: its state, and what happened in the turn under way.
type view struct {
	id      string
	epoch   string
	state   *protocol.State
	phase   phase
	joins   int // attempts
	streams []*stream

	turn   *turnView
	buffer buffer // of the turn under way
}

// joined takes the answer to subscribe: the view goes on, or begins anew from a snapshot.
func (v *view) joined(r protocol.SubscribeResult) {
	v.phase = catching
	if r.Mode == protocol.ModeResume && v.state != nil {
		return
	}
	v.epoch = r.After.Epoch
	v.state = &protocol.State{Session: v.id, Seq: r.After.Seq}
	if r.Snapshot != nil && r.Snapshot.State != nil {
		v.epoch, v.state = r.Snapshot.Epoch, r.Snapshot.State
	}
	v.clear()
	for _, st := range v.streams { // they begin anew, too
		st.started = false
	}
}

// clear empties the buffer.
func (v *view) clear() {
	v.buffer, v.turn = buffer{}, nil
	if t := v.state.Turn; t != nil {
		v.turn = newTurnView(t.Turn)
	}
}

// begin says the state to a stream, in one step with following.
func (v *view) begin(st *stream) {
	st.started = true
	e := sessionEvent{Tag: initialState, Snapshot: snapshotOf(v.state), Buffer: v.buffer.list()}
	if t := v.state.Turn; t != nil {
		m := startedOf(&t.Message)
		e.TurnContext = &turnContext{
			TurnID: t.Turn, MessageID: m.ID, Content: m.Content, Parts: m.Parts, ClientMessageID: m.ClientMessageID, StartedAt: stamp(t.Started),
		}
	}
	for i := range v.state.Approvals {
		a := &v.state.Approvals[i]
		e.PendingApprovals = append(e.PendingApprovals, pendingApproval{toolCallOf(a), toolNameOf(a)})
	}
	st.push(protocol.MustEncode(e))
}

// tell says a session event to the streams that have begun.
func (v *view) tell(e sessionEvent) {
	var value json.RawMessage
	for _, st := range v.streams {
		if !st.started || st.over {
			continue
		}
		if value == nil {
			value = protocol.MustEncode(e)
		}
		st.push(value)
	}
}

// chat says a step of the turn under way, and keeps it for who comes later.
func (v *view) chat(c chatEvent) {
	v.buffer.add(v.tellChat(c))
}

// tellChat says a chat event that is not repeated.
func (v *view) tellChat(c chatEvent) json.RawMessage {
	raw := protocol.MustEncode(c)
	v.tell(sessionEvent{Tag: streamEvent, TurnID: v.turnID(), Event: raw})
	return raw
}

// event takes an event of a session that is followed.
func (s *Server) event(v *view, e *protocol.Event) {
	switch {
	case e.Type == protocol.SummaryChanged:
		var d protocol.Summary
		if _ = json.Unmarshal(e.Data, &d); d.Deleted && v.phase != gone {
			s.remove(v)
		}
		return
	case e.Type == protocol.ClientDetached:
		var d protocol.Client
		if _ = json.Unmarshal(e.Data, &d); d.Reason == string(protocol.CodeNoSession) && v.phase != gone {
			s.remove(v)
		}
		return
	case v.phase != catching && v.phase != live:
		return
	case e.Type == protocol.CaughtUp:
		v.phase = live
		for _, st := range v.streams {
			if !st.started {
				v.begin(st)
			}
		}
		return
	case !e.Durable() || e.Seq <= v.state.Seq:
		return
	case e.First() != v.state.Seq+1: // of another subscription
		s.join(v)
		return
	}
	before := len(v.state.Queue)
	at := queueIndex(v.state, e)
	if v.state.Apply(e) != nil {
		v.state.Seq = e.Seq
		return
	}
	v.translate(e, at, before)
	s.bound(v)
}

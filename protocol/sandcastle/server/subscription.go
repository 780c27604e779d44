package server

import (
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
)

// A phase is the state of a subscription.
type phase int

const (
	phaseSubscribing phase = iota // subscribe was sent: events belong to an earlier subscription
	phaseCatchingUp               // receiving past events
	phaseLive
	phasePaused  // until the client acknowledges
	phaseDeleted // the session was deleted
)

// Bounds of a stream's pending values, in bytes, plus the values of one event. If all streams of a
// session exceed maxPending, the subscription pauses until the client acknowledges one of them. If
// only some do, the others continue: a stream that exceeds maxBehind ends.
const (
	maxPending = 1 << 20
	maxBehind  = 8 << 20
)

// A stream is one of the client's subscriptions to a session.
type stream struct {
	call         *rpcCall
	subscription *subscription // nil until the session is found
	started      bool          // InitialState was sent
	turn         string        // current in InitialState: its start is not sent
	awaitingAck  bool          // for the last chunk
	ending       bool          // ends after its pending values

	pending []json.RawMessage
	bytes   int
}

func (st *stream) push(value json.RawMessage) {
	st.pending = append(st.pending, value)
	st.bytes += len(value)
}

// isBehind reports whether more than a number of bytes awaits an Ack.
func (st *stream) isBehind(bytes int) bool { return st.awaitingAck && st.bytes > bytes }

// A subscription is a session that the client's streams share: its state and the events of the
// current turn.
type subscription struct {
	codec.Subscription
	phase    phase
	attempts int // number of subscribe commands
	streams  []*stream

	turn   *turn
	buffer turnBuffer // of the current turn
	mode   string     // that the clients know: plan or build
}

// handleSubscribed handles the answer to subscribe: the subscription resumes or restarts from a
// snapshot.
func (sub *subscription) handleSubscribed(r *protocol.SubscribeResult) {
	sub.phase = phaseCatchingUp
	if sub.Start(r) {
		return
	}
	sub.mode = wire.ModeOf(sub.State)
	sub.resetTurn()
	for _, st := range sub.streams { // restart the streams
		st.started = false
	}
}

// resetTurn empties the buffer.
func (sub *subscription) resetTurn() {
	sub.buffer, sub.turn = turnBuffer{}, nil
	if t := sub.State.Turn; t != nil {
		sub.turn = newServerTurn(t.Turn)
	}
}

// sendInitialState sends the state to a stream. Later events follow without a gap.
func (sub *subscription) sendInitialState(st *stream) {
	st.started = true
	e := wire.SessionEvent{Tag: wire.InitialState, Snapshot: wire.SnapshotOf(sub.State), Buffer: sub.buffer.list()}
	st.turn = ""
	if t := sub.State.Turn; t != nil {
		st.turn = t.Turn
		m := wire.NewStartedMessage(&t.Message)
		e.TurnContext = &wire.TurnContext{
			TurnID: t.Turn, MessageID: m.ID, Content: m.Content, Parts: m.Parts, ClientMessageID: m.ClientMessageID,
			StartedAt: wire.FormatTime(t.Started),
		}
	}
	for i := range sub.State.Approvals {
		a := &sub.State.Approvals[i]
		e.PendingApprovals = append(e.PendingApprovals, wire.PendingApproval{ToolCallID: wire.ToolCallOf(a), ToolName: wire.ToolNameOf(a)})
	}
	st.push(protocol.MustEncode(e))
	for i := range sub.State.Approvals {
		a := &sub.State.Approvals[i]
		if sub.turn == nil {
			break
		}
		t := sub.turn.tools[a.Tool]
		if t == nil || !wire.Differs(a, t.name, t.input) {
			continue
		}
		c := protocol.MustEncode(requestInput(t, a, ""))
		st.push(protocol.MustEncode(wire.TurnEvent{Tag: wire.StreamEvent, TurnID: sub.turnID(), Event: c}))
	}
}

// sendEvent sends a session event to the started streams.
func (sub *subscription) sendEvent(e any) {
	sub.sendEventTo(e, func(*stream) bool { return true })
}

// sendStarted sends the start of a turn to the started streams whose state did not have it.
func (sub *subscription) sendStarted(e wire.SessionEvent) {
	sub.sendEventTo(e, func(st *stream) bool { return st.turn != e.TurnID })
}

func (sub *subscription) sendEventTo(e any, wants func(*stream) bool) {
	var value json.RawMessage
	for _, st := range sub.streams {
		if !st.started || st.ending || !wants(st) {
			continue
		}
		if value == nil {
			value = protocol.MustEncode(e)
		}
		st.push(value)
	}
}

// sendChat sends a chat event of the turn and buffers it for later subscribers.
func (sub *subscription) sendChat(c wire.ChatEvent) {
	sub.buffer.add(sub.sendTransientChat(c))
}

// sendTransientChat sends a chat event without buffering it.
func (sub *subscription) sendTransientChat(c wire.ChatEvent) json.RawMessage {
	raw := protocol.MustEncode(c)
	sub.sendEvent(wire.TurnEvent{Tag: wire.StreamEvent, TurnID: sub.turnID(), Event: raw})
	return raw
}

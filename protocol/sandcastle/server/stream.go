package server

import (
	"encoding/json"
	"maps"
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
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
	turn         string        // under way in InitialState: it starts no more
	awaitingAck  bool          // for the last chunk
	ending       bool          // ends after its pending values

	pending []json.RawMessage
	bytes   int
}

func (st *stream) push(value json.RawMessage) {
	st.pending = append(st.pending, value)
	st.bytes += len(value)
}

// flush sends pending values, one chunk for each stream that awaits no Ack. Answers precede it.
func (s *Conn) flush() {
	for _, id := range s.sessionIDs() {
		sub := s.subscriptions[id]
		for _, st := range slices.Clone(sub.streams) {
			if st.awaitingAck || len(st.pending) == 0 {
				if st.ending && len(st.pending) == 0 {
					s.endCall(st.call, wire.SuccessExit(st.call.id, nil))
				}
				continue
			}
			s.send(protocol.MustEncode(wire.ChunkMessage{Tag: wire.TagChunk, RequestID: st.call.id, Values: st.pending}))
			st.pending, st.bytes, st.awaitingAck = nil, 0, true
		}
	}
}

// sessionIDs lists the subscribed sessions in a stable order.
func (s *Conn) sessionIDs() []string { return slices.Sorted(maps.Keys(s.subscriptions)) }

// handleSubscribe opens a stream.
func (s *Conn) handleSubscribe(c *rpcCall) {
	c.stream = &stream{call: c}
	if sub := s.subscriptions[c.SessionID]; sub != nil {
		s.attachStream(sub, c.stream)
		return
	}
	if len(s.subscriptions) >= wire.MaxSubscriptions {
		s.endCall(c, wire.DefectExit(c.id, "too many sessions followed"))
		return
	}
	s.Request(protocol.DoSubscribe, c.SessionID, "", protocol.SubscribeData{}, func(a protocol.Answer) {
		r, err := codec.DecodeResult[protocol.SubscribeResult](a)
		if err != nil {
			s.failCall(c, err)
			return
		}
		sub := s.subscriptions[r.Session]
		switch {
		case c.ended && sub == nil:
			s.Request(protocol.DoUnsubscribe, r.Session, "", nil, nil)
			return
		case sub == nil:
			sub = &subscription{phase: phaseSubscribing}
			s.subscriptions[r.Session] = sub
			sub.handleSubscribed(&r)
		case sub.phase == phasePaused: // subscribed under another name, and paused
			s.pause(sub)
		default:
			// Subscribed under another name: agentctl's server restarted the subscription, so
			// resume from the current position.
			s.resubscribe(sub)
		}
		if !c.ended {
			s.attachStream(sub, c.stream)
		}
	})
}

// attachStream attaches a stream to a subscription. It starts now, or after catching up.
func (s *Conn) attachStream(sub *subscription, st *stream) {
	st.subscription = sub
	sub.streams = append(sub.streams, st)
	if sub.phase == phaseLive {
		sub.sendInitialState(st)
	}
	s.resume(sub)
}

// detachStream removes a stream. The last one ends the subscription.
func (s *Conn) detachStream(st *stream) {
	sub := st.subscription
	if sub == nil {
		return
	}
	st.subscription = nil
	sub.streams = slices.DeleteFunc(sub.streams, func(o *stream) bool { return o == st })
	if len(sub.streams) > 0 {
		s.resume(sub)
		return
	}
	if sub.phase != phaseDeleted {
		s.Request(protocol.DoUnsubscribe, sub.Session, "", nil, nil)
	}
	delete(s.subscriptions, sub.Session)
}

// resubscribe resumes a subscription from its position.
func (s *Conn) resubscribe(sub *subscription) {
	sub.phase = phaseSubscribing
	d := protocol.SubscribeData{Position: sub.Position()}
	sub.attempts++
	attempt := sub.attempts
	s.Request(protocol.DoSubscribe, sub.Session, "", d, func(a protocol.Answer) {
		if s.subscriptions[sub.Session] != sub || sub.phase != phaseSubscribing || sub.attempts != attempt {
			return
		}
		r, err := codec.DecodeResult[protocol.SubscribeResult](a)
		if err != nil {
			s.dropSubscription(sub)
			return
		}
		sub.handleSubscribed(&r)
	})
}

// isBehind reports whether more than a number of bytes awaits an Ack.
func (st *stream) isBehind(bytes int) bool { return st.awaitingAck && st.bytes > bytes }

// boundStreams enforces the bounds of a session's streams.
func (s *Conn) boundStreams(sub *subscription) {
	if !slices.ContainsFunc(sub.streams, func(st *stream) bool { return !st.isBehind(maxPending) }) {
		s.pause(sub)
		return
	}
	for _, st := range slices.Clone(sub.streams) {
		if st.isBehind(maxBehind) {
			s.endCall(st.call, wire.DefectExit(st.call.id, "the stream is too far behind: subscribe again"))
		}
	}
}

// pause ends the native subscription while the client acknowledges nothing.
func (s *Conn) pause(sub *subscription) {
	sub.phase = phasePaused
	s.Request(protocol.DoUnsubscribe, sub.Session, "", nil, nil)
}

// resume restarts a paused subscription when one of its streams has caught up.
func (s *Conn) resume(sub *subscription) {
	if sub == nil || sub.phase != phasePaused {
		return
	}
	if slices.ContainsFunc(sub.streams, func(st *stream) bool { return !st.isBehind(maxPending / 2) }) {
		s.resubscribe(sub)
	}
}

// dropSubscription ends the streams of a deleted session.
func (s *Conn) dropSubscription(sub *subscription) {
	sub.phase = phaseDeleted
	sub.sendEvent(wire.SessionEvent{Tag: wire.SessionDeleted, SessionID: sub.Session})
	for _, st := range slices.Clone(sub.streams) {
		st.ending = true
		if !st.started {
			s.failCall(st.call, protocol.Errorf(protocol.CodeNoSession, "the session was deleted"))
		}
	}
}

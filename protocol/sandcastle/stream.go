package sandcastle

import (
	"encoding/json"
	"maps"
	"slices"

	"agentctl/protocol"
)

// Bounds of what waits for a stream's client, in bytes, but for what one event makes. When all streams of a session are maxPending
// behind, it is not followed any further until the client acknowledges in one of them; then it goes on from there. When only some
// are, the others do not wait: a stream may then be maxBehind behind, and ends beyond.
const (
	maxPending = 1 << 20
	maxBehind  = 8 << 20
)

// A stream is one subscription of the client to a session.
type stream struct {
	call         *rpcCall
	subscription *subscription // nil until the session is found
	started      bool          // InitialState was said
	awaitingAck  bool          // for the Ack of the last chunk
	ending       bool          // after what is pending it ends

	pending []json.RawMessage
	bytes   int
}

func (st *stream) push(value json.RawMessage) {
	st.pending = append(st.pending, value)
	st.bytes += len(value)
}

// flush says what waits, one chunk for each stream that awaits no Ack. Answers were said before.
func (s *serverCodec) flush() {
	for _, id := range s.sessionIDs() {
		sub := s.subscriptions[id]
		for _, st := range slices.Clone(sub.streams) {
			if st.awaitingAck || len(st.pending) == 0 {
				if st.ending && len(st.pending) == 0 {
					s.endCall(st.call, successExit(st.call.id, nil))
				}
				continue
			}
			s.send(protocol.MustEncode(chunkMessage{tagChunk, st.call.id, st.pending}))
			st.pending, st.bytes, st.awaitingAck = nil, 0, true
		}
	}
}

// order lists the sessions followed, always in the same order.
func (s *serverCodec) sessionIDs() []string { return slices.Sorted(maps.Keys(s.subscriptions)) }

// subscribe opens a stream.
func (s *serverCodec) handleSubscribe(c *rpcCall) {
	c.stream = &stream{call: c}
	if sub := s.subscriptions[c.SessionID]; sub != nil {
		s.attachStream(sub, c.stream)
		return
	}
	if len(s.subscriptions) >= maxSubscriptions {
		s.endCall(c, defectExit(c.id, "too many sessions followed"))
		return
	}
	s.requests.Do(s.out, protocol.DoSubscribe, c.SessionID, "", protocol.SubscribeData{}, func(a protocol.Answer) {
		if a.Error != nil {
			s.answer(c, a, nil)
			return
		}
		r := decodeResult[protocol.SubscribeResult](a)
		sub := s.subscriptions[r.Session]
		switch {
		case c.ended && sub == nil:
			s.requests.Do(s.out, protocol.DoUnsubscribe, r.Session, "", nil, nil)
			return
		case sub == nil:
			sub = &subscription{id: r.Session, phase: phaseSubscribing}
			s.subscriptions[r.Session] = sub
			sub.handleSubscribed(r)
		case sub.phase == phasePaused: // known under another name, and not wanted now
			s.pause(sub)
		default: // known under another name: our server began anew, and so do we, from where we are
			s.resubscribe(sub)
		}
		if !c.ended {
			s.attachStream(sub, c.stream)
		}
	})
}

// add lets a stream see a session: from now on, or from when it has caught up.
func (s *serverCodec) attachStream(sub *subscription, st *stream) {
	st.subscription = sub
	sub.streams = append(sub.streams, st)
	if sub.phase == phaseLive {
		sub.sendInitialState(st)
	}
	s.resume(sub)
}

// leave removes a stream; a session that nobody sees is not followed any longer.
func (s *serverCodec) detachStream(st *stream) {
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
		s.requests.Do(s.out, protocol.DoUnsubscribe, sub.id, "", nil, nil)
	}
	delete(s.subscriptions, sub.id)
}

// join follows a session from where the view is.
func (s *serverCodec) resubscribe(sub *subscription) {
	sub.phase = phaseSubscribing
	d := protocol.SubscribeData{Position: &protocol.Position{Epoch: sub.epoch, Seq: sub.state.Seq}}
	sub.attempts++
	attempt := sub.attempts
	s.requests.Do(s.out, protocol.DoSubscribe, sub.id, "", d, func(a protocol.Answer) {
		if s.subscriptions[sub.id] != sub || sub.phase != phaseSubscribing || sub.attempts != attempt {
			return
		}
		if a.Error != nil {
			s.dropSubscription(sub)
			return
		}
		sub.handleSubscribed(decodeResult[protocol.SubscribeResult](a))
	})
}

// behind reports whether more than so much waits for an Ack.
func (st *stream) isBehind(bytes int) bool { return st.awaitingAck && st.bytes > bytes }

// bound keeps what waits for a session's streams within bounds.
func (s *serverCodec) boundStreams(sub *subscription) {
	if !slices.ContainsFunc(sub.streams, func(st *stream) bool { return !st.isBehind(maxPending) }) {
		s.pause(sub)
		return
	}
	for _, st := range slices.Clone(sub.streams) {
		if st.isBehind(maxBehind) {
			s.endCall(st.call, defectExit(st.call.id, "the stream is too far behind: subscribe again"))
		}
	}
}

// pause stops following a session whose client takes nothing.
func (s *serverCodec) pause(sub *subscription) {
	sub.phase = phasePaused
	s.requests.Do(s.out, protocol.DoUnsubscribe, sub.id, "", nil, nil)
}

// resume goes on with a paused session when a stream of it is not behind.
func (s *serverCodec) resume(sub *subscription) {
	if sub == nil || sub.phase != phasePaused {
		return
	}
	if slices.ContainsFunc(sub.streams, func(st *stream) bool { return !st.isBehind(maxPending / 2) }) {
		s.resubscribe(sub)
	}
}

// remove tells that a session is gone, which ends its streams.
func (s *serverCodec) dropSubscription(sub *subscription) {
	sub.phase = phaseDeleted
	sub.sendEvent(sessionEvent{Tag: sessionDeleted, SessionID: sub.id})
	for _, st := range slices.Clone(sub.streams) {
		st.ending = true
		if !st.started {
			e := protocol.Errorf(protocol.CodeNoSession, "the session was deleted")
			s.endCall(st.call, failureExit(st.call.id, foreignError(e, &st.call.payload, st.call.op, st.call.typed)))
		}
	}
}

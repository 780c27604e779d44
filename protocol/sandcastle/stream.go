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
	call    *call
	view    *view // nil until the session is found
	started bool  // InitialState was said
	waiting bool  // for the Ack of the last chunk
	over    bool  // after what is pending it ends

	pending []json.RawMessage
	bytes   int
}

func (st *stream) push(value json.RawMessage) {
	st.pending = append(st.pending, value)
	st.bytes += len(value)
}

// flush says what waits, one chunk for each stream that awaits no Ack. Answers were said before.
func (s *Server) flush() {
	for _, id := range s.order() {
		v := s.views[id]
		for _, st := range slices.Clone(v.streams) {
			if st.waiting || len(st.pending) == 0 {
				if st.over && len(st.pending) == 0 {
					s.end(st.call, succeeded(st.call.id, nil))
				}
				continue
			}
			s.say(protocol.MustEncode(chunk{tagChunk, st.call.id, st.pending}))
			st.pending, st.bytes, st.waiting = nil, 0, true
		}
	}
}

// order lists the sessions followed, always in the same order.
func (s *Server) order() []string { return slices.Sorted(maps.Keys(s.views)) }

// subscribe opens a stream.
func (s *Server) subscribe(c *call) {
	c.stream = &stream{call: c}
	if v := s.views[c.SessionID]; v != nil {
		s.add(v, c.stream)
		return
	}
	if len(s.views) >= maxViews {
		s.end(c, died(c.id, "too many sessions followed"))
		return
	}
	s.native.Do(s.out, protocol.DoSubscribe, c.SessionID, "", protocol.SubscribeData{}, func(a protocol.Answer) {
		if a.Error != nil {
			s.answer(c, a, nil)
			return
		}
		r := result[protocol.SubscribeResult](a)
		v := s.views[r.Session]
		switch {
		case c.ended && v == nil:
			s.native.Do(s.out, protocol.DoUnsubscribe, r.Session, "", nil, nil)
			return
		case v == nil:
			v = &view{id: r.Session, phase: joining}
			s.views[r.Session] = v
			v.joined(r)
		case v.phase == paused: // known under another name, and not wanted now
			s.pause(v)
		default: // known under another name: our server began anew, and so do we, from where we are
			s.join(v)
		}
		if !c.ended {
			s.add(v, c.stream)
		}
	})
}

// add lets a stream see a session: from now on, or from when it has caught up.
func (s *Server) add(v *view, st *stream) {
	st.view = v
	v.streams = append(v.streams, st)
	if v.phase == live {
		v.begin(st)
	}
	s.resume(v)
}

// leave removes a stream; a session that nobody sees is not followed any longer.
func (s *Server) leave(st *stream) {
	v := st.view
	if v == nil {
		return
	}
	st.view = nil
	v.streams = slices.DeleteFunc(v.streams, func(o *stream) bool { return o == st })
	if len(v.streams) > 0 {
		s.resume(v)
		return
	}
	if v.phase != gone {
		s.native.Do(s.out, protocol.DoUnsubscribe, v.id, "", nil, nil)
	}
	delete(s.views, v.id)
}

// join follows a session from where the view is.
func (s *Server) join(v *view) {
	v.phase = joining
	d := protocol.SubscribeData{Position: &protocol.Position{Epoch: v.epoch, Seq: v.state.Seq}}
	v.joins++
	attempt := v.joins
	s.native.Do(s.out, protocol.DoSubscribe, v.id, "", d, func(a protocol.Answer) {
		if s.views[v.id] != v || v.phase != joining || v.joins != attempt {
			return
		}
		if a.Error != nil {
			s.remove(v)
			return
		}
		v.joined(result[protocol.SubscribeResult](a))
	})
}

// behind reports whether more than so much waits for an Ack.
func (st *stream) behind(bytes int) bool { return st.waiting && st.bytes > bytes }

// bound keeps what waits for a session's streams within bounds.
func (s *Server) bound(v *view) {
	if !slices.ContainsFunc(v.streams, func(st *stream) bool { return !st.behind(maxPending) }) {
		s.pause(v)
		return
	}
	for _, st := range slices.Clone(v.streams) {
		if st.behind(maxBehind) {
			s.end(st.call, died(st.call.id, "the stream is too far behind: subscribe again"))
		}
	}
}

// pause stops following a session whose client takes nothing.
func (s *Server) pause(v *view) {
	v.phase = paused
	s.native.Do(s.out, protocol.DoUnsubscribe, v.id, "", nil, nil)
}

// resume goes on with a paused session when a stream of it is not behind.
func (s *Server) resume(v *view) {
	if v == nil || v.phase != paused {
		return
	}
	if slices.ContainsFunc(v.streams, func(st *stream) bool { return !st.behind(maxPending / 2) }) {
		s.join(v)
	}
}

// remove tells that a session is gone, which ends its streams.
func (s *Server) remove(v *view) {
	v.phase = gone
	v.tell(sessionEvent{Tag: sessionDeleted, SessionID: v.id})
	for _, st := range slices.Clone(v.streams) {
		st.over = true
		if !st.started {
			e := protocol.Errorf(protocol.CodeNoSession, "the session was deleted")
			s.end(st.call, failed(st.call.id, errorOf(e, &st.call.payload, st.call.op, st.call.typed)))
		}
	}
}

package myagent

import (
	"agentctl/protocol"
)

// Bounds of a replay: the newest frames, in count and bytes.
const (
	maxReplay      = 200
	maxReplayBytes = 8 << 20
)

// A replay collects what a session told, for the session that continues it.
type replay struct {
	teller
	target     string // the session that it is replayed for
	epoch      string
	had        *mark  // the client has what this covers; nil: nothing
	connection string // that the client had before
	marks      *marks // of that connection; nil: unknown
	frames     []replayed
	bytes      int
	then       func() // when it is over
}

type replayed struct {
	frame
	at   protocol.Position
	part int
	size int
}

// take collects an event.
func (r *replay) take(e *protocol.Event) {
	if e.First() <= r.state.Seq {
		return
	}
	for i, f := range r.tell(e) {
		if r.had != nil && r.had.covers(e.Seq, i) {
			continue
		}
		r.frames = append(r.frames, replayed{f, protocol.Position{Epoch: r.epoch, Seq: e.Seq}, i, len(e.Data)})
		r.bytes += len(e.Data)
	}
	for len(r.frames) > maxReplay || r.bytes > maxReplayBytes && len(r.frames) > 1 {
		r.bytes -= r.frames[0].size
		r.frames[0] = replayed{}
		r.frames = r.frames[1:]
	}
}

// finish sends what was collected, each with the seq that it had, and says how much it was.
func (s *server) finish(f *follow, r *replay) {
	m := meta{"action": actionReplay, "replayed": len(r.frames), "count": len(r.frames)}
	for _, old := range r.frames {
		fr := old.frame
		fr.Session = r.target
		fr.Meta["replayed"], fr.Meta["orig_session_id"], fr.Meta["orig_seq"] = true, f.session, old.at.Seq
		if r.marks != nil {
			if seq := r.marks.of(f.session, old.at, old.part); seq > 0 {
				fr.Meta["orig_seq"], fr.Meta["orig_event_id"] = seq, eventID(r.connection, seq)
			}
		}
		seq := s.send(fr)
		m["last_seq"], m["last_event_id"] = seq, eventID(s.id, seq)
	}
	if len(r.frames) == 0 {
		s.nothing(r.target)
	} else {
		n := noticeFrame("Replayed buffered events", m)
		n.Session = r.target
		s.send(n)
	}
	if !f.live {
		delete(s.follows, f.session)
		s.requests.Do(s.out, protocol.DoUnsubscribe, f.session, "", nil, nil)
	}
	r.then()
}

// nothing says that there is nothing to replay.
func (s *server) nothing(session string) {
	n := noticeFrame("No buffered events available for replay", meta{"action": actionReplay, "count": 0, "replayed": 0})
	n.Session = session
	s.send(n)
}

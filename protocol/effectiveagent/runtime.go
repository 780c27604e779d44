package effectiveagent

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
)

// A runtime is an agent runtime that the client follows, by the name it has for it.
type runtime struct{ id string }

// A feed is the one subscription of a session, for all names that the client has for it.
type feed struct {
	session string
	last    protocol.Position // of the newest event that was passed on, or that was there before
	names   []*runtime
}

// subscribe lets the client follow a runtime from now on. Nothing is answered, but to a client of our kind: it is told what came after the
// activity that it has last, if the log still is that log, or else what the session is, with the turn under way from its beginning.
func (s *server) subscribe(id string, n *note) {
	if s.runtimes[id] != nil {
		return
	}
	if len(s.runtimes) >= maxRuntimes || s.Requests.Pending() >= maxWaiting {
		s.refuse(id, protocol.Errorf(protocol.CodeTooMany, "too many agent runtimes are followed on this connection"))
		return
	}
	r := &runtime{id}
	s.runtimes[id] = r
	// Now is where the log ends now: from there on the client gets everything.
	s.Request(protocol.DoSnapshot, id, "", nil, func(a protocol.Answer) {
		if s.runtimes[id] != r { // given up meanwhile
			return
		}
		var at protocol.SnapshotResult
		if a.Error == nil && (json.Unmarshal(a.Result, &at) != nil || at.Snapshot.State == nil) {
			a.Error = protocol.Errorf(protocol.CodeInternal, "its state cannot be read")
		}
		if a.Error != nil {
			delete(s.runtimes, id)
			s.refuse(id, a.Error)
			return
		}
		from := protocol.Position{Epoch: at.Snapshot.Epoch, Seq: at.Snapshot.State.Seq}
		p, err := protocol.ParsePosition(n.After)
		known := err == nil && p.Epoch == from.Epoch && p.Seq <= from.Seq
		if known {
			from.Seq = p.Seq
		}
		s.follow(&joining{r, at.Snapshot.State.Session, from, n.After != "" || n.Whole, n.Whole && !known})
	})
}

// A joining is a runtime on its way into its session's feed.
type joining struct {
	runtime *runtime
	session string
	from    protocol.Position
	asks    bool // to be told from where on
	whole   bool // and what the session is
}

func (s *server) refuse(id string, e *protocol.Error) {
	s.fail(codeOf(e.Code, subscribeFailed), "Failed to subscribe to agent runtime "+id+": "+e.Message, string(e.Code))
}

// follow joins a runtime to its session's feed, and starts that if there is none. Who asks is told from where on.
func (s *server) follow(j *joining) {
	if f := s.followed[j.session]; f != nil {
		f.names = append(f.names, j.runtime)
		s.begins(j, f, note{})
		return
	}
	f := &feed{session: j.session, last: j.from, names: []*runtime{j.runtime}}
	s.followed[j.session] = f
	d := protocol.SubscribeData{Position: &j.from, Raw: true} // raw: every activity has the next sequence
	if j.whole {
		d.Position = nil
	}
	s.Request(protocol.DoSubscribe, j.session, "", d, func(a protocol.Answer) {
		if s.followed[j.session] != f {
			return
		}
		if a.Error != nil {
			s.drop(f, a.Error)
			return
		}
		var at protocol.SubscribeResult
		_ = json.Unmarshal(a.Result, &at) // our own encoding
		var n note
		switch {
		case j.whole && at.Snapshot != nil:
			f.last, n.State, n.Until = at.After, protocol.MustEncode(at.Snapshot.State), at.Position.Seq
		case at.Mode == protocol.ModeReset:
			f.last = at.Position
		}
		s.begins(j, f, n)
	})
}

// begins tells a client that asked after which activity its runtime's are told, and what the session is there, if that is known.
func (s *server) begins(j *joining, f *feed, n note) {
	r := j.runtime
	if !j.asks || s.runtimes[r.id] != r {
		return
	}
	n.After = f.last.String()
	s.send(activityMessage{typeActivity, r.id, activity{
		Sequence: f.last.Seq, Timestamp: s.form.time(s.Now), Type: s.form.kind(kindStatus), Payload: json.RawMessage("null"),
		AgentRuntimeID: r.id, Metadata: &metadata{Note: &n},
	}})
}

// drop ends a feed that the server does not feed any more. The client may subscribe again.
func (s *server) drop(f *feed, e *protocol.Error) {
	delete(s.followed, f.session)
	for _, r := range f.names {
		delete(s.runtimes, r.id)
		s.refuse(r.id, e)
	}
}

// unsubscribe ends what subscribe began. Nothing is answered.
func (s *server) unsubscribe(id string) {
	r := s.runtimes[id]
	if r == nil {
		return
	}
	delete(s.runtimes, id)
	for session, f := range s.followed {
		i := slices.Index(f.names, r)
		if i < 0 {
			continue
		}
		if f.names = slices.Delete(f.names, i, i+1); len(f.names) == 0 {
			delete(s.followed, session)
			s.Request(protocol.DoUnsubscribe, session, "", nil, nil)
		}
		return
	}
}

// event passes an event on as an activity, once for each name. What has no sequence is none.
func (s *server) event(e *protocol.Event) {
	f := s.followed[e.Session]
	if f == nil {
		return
	}
	if !e.Durable() {
		if why, ended := s.Unsubscribed(e); ended {
			s.drop(f, protocol.Errorf(why, "its activities do not come any more"))
		}
		return
	}
	if e.Seq <= f.last.Seq {
		return
	}
	f.last.Seq = e.Seq
	a := activity{
		Sequence: e.Seq, Timestamp: s.form.time(e.Time), Type: s.form.kind(kindOf(e)), Payload: e.Data, ID: f.last.String(),
		Metadata: &metadata{Note: &note{Event: e.Type, Turn: e.Turn, Task: e.Task, Parent: e.Parent, By: e.By}},
	}
	if len(a.Payload) == 0 {
		a.Payload = json.RawMessage("null")
	}
	for _, r := range f.names {
		a.AgentRuntimeID = r.id
		s.send(activityMessage{typeActivity, r.id, a})
	}
}

package effectiveagent

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
)

// A runtime is an agent runtime that the client follows, by the name it has for it.
type subscriber struct{ id string }

// A feed is the one subscription of a session, for all names that the client has for it.
type subscription struct {
	session     string
	last        protocol.Position // of the newest event that was passed on, or that was there before
	subscribers []*subscriber
}

// subscribe lets the client follow a runtime from now on. Nothing is answered, but to a client of our kind: it is told what came after the
// activity that it has last, if the log still is that log, or else what the session is, with the turn under way from its beginning.
func (s *server) subscribe(id string, n *note) {
	if s.subscribers[id] != nil {
		return
	}
	if len(s.subscribers) >= maxRuntimes || s.Requests.Pending() >= maxWaiting {
		s.failSubscribe(id, protocol.Errorf(protocol.CodeTooMany, "too many agent runtimes are followed on this connection"))
		return
	}
	r := &subscriber{id}
	s.subscribers[id] = r
	// Now is where the log ends now: from there on the client gets everything.
	s.Request(protocol.DoSnapshot, id, "", nil, func(a protocol.Answer) {
		if s.subscribers[id] != r { // given up meanwhile
			return
		}
		var at protocol.SnapshotResult
		if a.Error == nil && (json.Unmarshal(a.Result, &at) != nil || at.Snapshot.State == nil) {
			a.Error = protocol.Errorf(protocol.CodeInternal, "its state cannot be read")
		}
		if a.Error != nil {
			delete(s.subscribers, id)
			s.failSubscribe(id, a.Error)
			return
		}
		from := protocol.Position{Epoch: at.Snapshot.Epoch, Seq: at.Snapshot.State.Seq}
		p, err := protocol.ParsePosition(n.After)
		known := err == nil && p.Epoch == from.Epoch && p.Seq <= from.Seq
		if known {
			from.Seq = p.Seq
		}
		s.addSubscriber(&pendingSubscriber{r, at.Snapshot.State.Session, from, n.After != "" || n.WantState, n.WantState && !known})
	})
}

// A joining is a runtime on its way into its session's feed.
type pendingSubscriber struct {
	runtime       *subscriber
	session       string
	from          protocol.Position
	wantsPosition bool // to be told from where on
	wantsState    bool // and what the session is
}

func (s *server) failSubscribe(id string, e *protocol.Error) {
	s.fail(encodeCode(e.Code, subscribeFailed), "Failed to subscribe to agent runtime "+id+": "+e.Message, string(e.Code))
}

// addSubscriber joins a runtime to its session's feed, and starts that if there is none. Who asks is told from where on.
func (s *server) addSubscriber(j *pendingSubscriber) {
	if f := s.subscriptions[j.session]; f != nil {
		f.subscribers = append(f.subscribers, j.runtime)
		s.sendStart(j, f, note{})
		return
	}
	f := &subscription{session: j.session, last: j.from, subscribers: []*subscriber{j.runtime}}
	s.subscriptions[j.session] = f
	d := protocol.SubscribeData{Position: &j.from, Raw: true} // raw: every activity has the next sequence
	if j.wantsState {
		d.Position = nil
	}
	s.Request(protocol.DoSubscribe, j.session, "", d, func(a protocol.Answer) {
		if s.subscriptions[j.session] != f {
			return
		}
		if a.Error != nil {
			s.endSubscription(f, a.Error)
			return
		}
		var at protocol.SubscribeResult
		_ = json.Unmarshal(a.Result, &at) // our own encoding
		var n note
		switch {
		case j.wantsState && at.Snapshot != nil:
			f.last, n.State, n.PastSeq = at.After, protocol.MustEncode(at.Snapshot.State), at.Position.Seq
		case at.Mode == protocol.ModeReset:
			f.last = at.Position
		}
		s.sendStart(j, f, n)
	})
}

// sendStart tells a client that asked after which activity its runtime's are told, and what the session is there, if that is known.
func (s *server) sendStart(j *pendingSubscriber, f *subscription, n note) {
	r := j.runtime
	if !j.wantsPosition || s.subscribers[r.id] != r {
		return
	}
	n.After = f.last.String()
	s.send(activityMessage{typeActivity, r.id, activity{
		Sequence: f.last.Seq, Timestamp: s.form.encodeTime(s.Now), Type: s.form.typeName(kindStatus), Payload: json.RawMessage("null"),
		AgentRuntimeID: r.id, Metadata: &metadata{Note: &n},
	}})
}

// endSubscription ends a feed that the server does not feed any more. The client may subscribe again.
func (s *server) endSubscription(f *subscription, e *protocol.Error) {
	delete(s.subscriptions, f.session)
	for _, r := range f.subscribers {
		delete(s.subscribers, r.id)
		s.failSubscribe(r.id, e)
	}
}

// unsubscribe ends what subscribe began. Nothing is answered.
func (s *server) unsubscribe(id string) {
	r := s.subscribers[id]
	if r == nil {
		return
	}
	delete(s.subscribers, id)
	for session, f := range s.subscriptions {
		i := slices.Index(f.subscribers, r)
		if i < 0 {
			continue
		}
		if f.subscribers = slices.Delete(f.subscribers, i, i+1); len(f.subscribers) == 0 {
			delete(s.subscriptions, session)
			s.Request(protocol.DoUnsubscribe, session, "", nil, nil)
		}
		return
	}
}

// encodeEvent passes an event on as an activity, once for each name. What has no sequence is none.
func (s *server) encodeEvent(e *protocol.Event) {
	f := s.subscriptions[e.Session]
	if f == nil {
		return
	}
	if !e.Durable() {
		if why, ended := s.Unsubscribed(e); ended {
			s.endSubscription(f, protocol.Errorf(why, "its activities do not come any more"))
		}
		return
	}
	if e.Seq <= f.last.Seq {
		return
	}
	f.last.Seq = e.Seq
	a := activity{
		Sequence: e.Seq, Timestamp: s.form.encodeTime(e.Time), Type: s.form.typeName(activityKind(e)), Payload: e.Data, ID: f.last.String(),
		Metadata: &metadata{Note: &note{Event: e.Type, Turn: e.Turn, Task: e.Task, Parent: e.Parent, By: e.By}},
	}
	if len(a.Payload) == 0 {
		a.Payload = json.RawMessage("null")
	}
	for _, r := range f.subscribers {
		a.AgentRuntimeID = r.id
		s.send(activityMessage{typeActivity, r.id, a})
	}
}

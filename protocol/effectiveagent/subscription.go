package effectiveagent

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
)

// A subscriber is an agent runtime that the client subscribed to, by the client's name.
type subscriber struct{ id string }

// A subscription is the subscription of a session, for all its names.
type subscription struct {
	session     string
	last        protocol.Position // of the newest event sent, or of the start
	subscribers []*subscriber
}

// subscribe subscribes the client to a runtime from now on. Only agentctl's client gets an answer:
// the activities after its position, if the log is still the same, or else the session's state and
// the current turn from its beginning.
func (s *server) subscribe(id string, n *note) {
	if s.subscribers[id] != nil {
		return
	}
	if len(s.subscribers) >= maxRuntimes || s.Requests.Pending() >= maxWaiting {
		s.failSubscribe(id, protocol.Errorf(protocol.CodeTooMany, "too many subscriptions on this connection"))
		return
	}
	r := &subscriber{id}
	s.subscribers[id] = r
	// From the end of the log on, the client gets everything.
	s.Request(protocol.DoSnapshot, id, "", nil, func(a protocol.Answer) {
		if s.subscribers[id] != r { // unsubscribed since then
			return
		}
		var at protocol.SnapshotResult
		if a.Error == nil && (json.Unmarshal(a.Result, &at) != nil || at.Snapshot.State == nil) {
			a.Error = protocol.Errorf(protocol.CodeInternal, "cannot read the state")
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
		s.addSubscriber(
			&pendingSubscriber{r, at.Snapshot.State.Session, from, n.After != "" || n.WantState, n.WantState && !known},
		)
	})
}

// A pendingSubscriber is a subscriber that waits for its subscription.
type pendingSubscriber struct {
	runtime       *subscriber
	session       string
	from          protocol.Position
	wantsPosition bool // send the position of the start
	wantsState    bool // send the state
}

func (s *server) failSubscribe(id string, e *protocol.Error) {
	s.fail(
		encodeCode(e.Code, subscribeFailed), "Failed to subscribe to agent runtime "+id+": "+e.Message,
		string(e.Code),
	)
}

// addSubscriber adds a subscriber to its session's subscription, and starts that if needed.
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
		_ = json.Unmarshal(a.Result, &at) // encoded by agentctl's server
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

// sendStart sends the position after which activities follow, and the state there, to a client that
// requested it.
func (s *server) sendStart(j *pendingSubscriber, f *subscription, n note) {
	r := j.runtime
	if !j.wantsPosition || s.subscribers[r.id] != r {
		return
	}
	n.After = f.last.String()
	s.send(activityMessage{typeActivity, r.id, activity{
		Sequence: f.last.Seq, Timestamp: s.form.encodeTime(s.Now), Type: s.form.typeName(kindStatus),
		Payload:        json.RawMessage("null"),
		AgentRuntimeID: r.id, Metadata: &metadata{Note: &n},
	}})
}

// endSubscription reports that a subscription ended. The client may subscribe again.
func (s *server) endSubscription(f *subscription, e *protocol.Error) {
	delete(s.subscriptions, f.session)
	for _, r := range f.subscribers {
		delete(s.subscribers, r.id)
		s.failSubscribe(r.id, e)
	}
}

// unsubscribe ends a subscription, without an answer.
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

// encodeEvent sends an event as an activity, once for each name. Ephemeral events are not sent.
func (s *server) encodeEvent(e *protocol.Event) {
	f := s.subscriptions[e.Session]
	if f == nil {
		return
	}
	if !e.Durable() {
		if why, ended := s.Unsubscribed(e); ended {
			s.endSubscription(f, protocol.Errorf(why, "the subscription ended"))
		}
		return
	}
	if e.Seq <= f.last.Seq {
		return
	}
	f.last.Seq = e.Seq
	a := activity{
		Sequence: e.Seq, Timestamp: s.form.encodeTime(e.Time), Type: s.form.typeName(activityKind(e)),
		Payload: e.Data, ID: f.last.String(),
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

package myagent

import (
	"encoding/json"
	"slices"
	"time"

	"agentctl/protocol"
)

// A follow is a session that a connection follows, for its client or to replay it.
type follow struct {
	session string
	epoch   string
	live    bool // its events are told to the client
	teller
	boundary uint64 // seq of the last turn's end: where telling can begin anew
	had      *mark  // the client has what this covers; nil: nothing
	restored bool   // its beginning was told by agent.state_restored
	catching bool   // until caught_up
	caughtUp func(replayed int)
	told     int
	replay   *replay
	due      map[string]time.Time // confirmations that time out
}

// attach follows a session from a position (nil: the last turn's end); then is called once it is, or with an error.
func (s *server) attach(session string, from *protocol.Position, then func(*follow, *protocol.SubscribeResult, *protocol.Error)) {
	// From a frame on, raw: a folded event may hold some of what the client has.
	data := protocol.SubscribeData{Position: from, Raw: from != nil && from.Epoch != ""}
	s.requests.Do(s.out, protocol.DoSubscribe, session, "", data, func(a protocol.Answer) {
		var r protocol.SubscribeResult
		if a.Error == nil && (json.Unmarshal(a.Result, &r) != nil || r.Session == "") {
			a.Error = protocol.Errorf(protocol.CodeInternal, "internal error")
		}
		if a.Error != nil {
			then(nil, nil, a.Error)
			return
		}
		f := s.follows[r.Session]
		if f == nil {
			f = &follow{session: r.Session, due: map[string]time.Time{}}
			f.state = &protocol.State{Session: r.Session, Seq: r.After.Seq}
			s.follows[r.Session] = f
		}
		if f.epoch != r.Position.Epoch || f.state.Seq < r.After.Seq || !f.live {
			f.epoch, f.boundary = r.Position.Epoch, r.After.Seq
			f.teller = teller{state: f.first(&r)}
		}
		then(f, &r, nil)
	})
}

// first is the state that telling begins at.
func (f *follow) first(r *protocol.SubscribeResult) *protocol.State {
	if r.Snapshot != nil && r.Snapshot.State != nil {
		return r.Snapshot.State
	}
	return &protocol.State{Session: r.Session, Seq: r.After.Seq}
}

// begin tells the client of the session from here on; caughtUp, unless it is nil, is called when it has what there is. A client that
// asks for a session twice at once has begun already.
func (s *server) begin(f *follow, caughtUp func(replayed int)) {
	if f.live {
		before := f.caughtUp
		f.catching, f.caughtUp = true, func(replayed int) {
			for _, then := range []func(int){before, caughtUp} {
				if then != nil {
					then(replayed)
				}
			}
		}
		return
	}
	f.live, f.catching, f.caughtUp, f.told = true, true, caughtUp, 0
	from := mark{at: protocol.Position{Epoch: f.epoch, Seq: f.boundary}, part: 1 << 30, boundary: f.boundary}
	if f.had != nil {
		from = *f.had
	}
	from.seq, from.session = s.seq, f.session
	s.marks.add(from)
}

// event takes an event of our server.
func (s *server) event(e *protocol.Event) {
	f := s.follows[e.Session]
	if f == nil {
		return
	}
	if !e.Durable() {
		var gone protocol.Client
		switch {
		case e.Type == protocol.CaughtUp:
			s.reached(f)
		case e.Type == protocol.ClientDetached && e.Decode(&gone) == nil && gone.Client == s.native && gone.Reason != "":
			s.gone(f, protocol.Code(gone.Reason))
		}
		return
	}
	if f.replay != nil {
		f.replay.take(e)
	}
	if !f.live || e.First() <= f.state.Seq {
		return
	}
	at, boundary := protocol.Position{Epoch: f.epoch, Seq: e.Seq}, f.boundary
	silent := f.restored && (e.Type == protocol.SessionCreated || e.Type == protocol.StateRestored)
	for i, fr := range f.tell(e) {
		if silent || f.had != nil && f.had.covers(e.Seq, i) {
			continue
		}
		if f.catching {
			fr.Meta["replayed"] = true
			f.told++
		}
		seq := s.send(fr)
		s.marks.add(mark{seq: seq, session: f.session, at: at, part: i, boundary: boundary})
	}
	switch e.Type {
	case protocol.TurnEnded:
		f.boundary = e.Seq
		clear(f.due)
	case protocol.ApprovalRequested:
		if s.patience > 0 {
			s.awaits(f)
		}
	case protocol.ApprovalResolved:
		for request := range f.due {
			if f.state.PendingApproval(request) == nil {
				delete(f.due, request)
			}
		}
	case protocol.SessionClosed:
		clear(f.due)
	}
}

// reached is called when a subscription has caught up.
func (s *server) reached(f *follow) {
	if r := f.replay; r != nil {
		f.replay = nil
		s.finish(f, r)
	}
	if f.catching {
		f.catching, f.had = false, nil
		if then := f.caughtUp; then != nil {
			f.caughtUp = nil
			then(f.told)
		}
	}
}

// gone ends the following of a session that was deleted, or whose log cannot be read any more.
func (s *server) gone(f *follow, why protocol.Code) {
	if f.live && !f.state.Closed {
		fr := frame{Event: agentError, Content: "The session cannot be read", Meta: meta{"error_type": string(why)}, Show: showError}
		if why == protocol.CodeNoSession {
			fr = frame{Event: agentSessionEnd, Content: "Session deleted", Meta: meta{"reason": "deleted"}, Show: showEnded}
		}
		fr.Session = f.session
		s.send(fr)
	}
	delete(s.follows, f.session)
	if s.current == f.session {
		s.current = ""
	}
	s.reached(f) // whoever waits for it has all that there is
}

// awaits gives every pending confirmation a time.
func (s *server) awaits(f *follow) {
	for _, a := range f.state.Approvals {
		if _, known := f.due[a.Request]; !known {
			f.due[a.Request] = s.now.Add(s.patience)
		}
	}
}

// expire denies confirmations of this client's own turns that nobody answered in time.
func (s *server) expire(f *follow) {
	for _, a := range slices.Clone(f.state.Approvals) {
		due, waits := f.due[a.Request]
		if !waits || s.now.Before(due) {
			continue
		}
		f.due[a.Request] = s.now.Add(24 * time.Hour) // once
		if f.state.Turn == nil || !slices.Contains(s.sent, f.state.Turn.Message.MessageID) {
			continue
		}
		data := protocol.ApproveData{
			Request: a.Request, Decision: protocol.Deny, Reason: "no answer within " + s.patience.String(),
		}
		s.requests.Do(s.out, protocol.DoApprove, f.session, "", data, nil)
	}
}

// mine remembers a message that this client sent.
func (s *server) mine(message string) {
	if len(s.sent) == maxSent {
		s.sent = slices.Delete(s.sent, 0, 1)
	}
	s.sent = append(s.sent, message)
}

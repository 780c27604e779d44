package agentloop

import (
	"encoding/json"

	"agentctl/protocol"
)

// join follows the session; created says why it could not be created, if that was tried.
func (s *Server) join(created *protocol.Error) {
	s.phase = joining
	name, data := s.name, protocol.SubscribeData{}
	if s.state != nil && s.session != "" { // again
		name, data.Position = s.session, &protocol.Position{Epoch: s.epoch, Seq: s.state.Seq}
	}
	s.native.Do(s.out, protocol.DoSubscribe, name, "", data, func(a protocol.Answer) {
		r := result[protocol.SubscribeResult](a)
		switch {
		case a.Error == nil && r.Session != "":
			s.follow(&r)
			s.admit(nil)
		case created != nil:
			s.leave()
			s.admit(created)
		case a.Error != nil && a.Error.Code != protocol.CodeNoSession:
			s.leave()
			s.admit(a.Error)
		default:
			s.leave()
			s.admit(nil)
		}
	})
}

// leave notes that there is no session.
func (s *Server) leave() {
	s.phase, s.session, s.state, s.caughtUp = absent, "", nil, false
	s.turn, s.asked = turnView{}, asking{}
}

// follow begins with what subscribe answered.
func (s *Server) follow(r *protocol.SubscribeResult) {
	again := s.state != nil && s.session == r.Session && r.Mode == protocol.ModeResume
	s.phase, s.session, s.epoch, s.caughtUp = present, r.Session, r.After.Epoch, false
	if again {
		return
	}
	s.state = &protocol.State{Session: r.Session, Seq: r.After.Seq}
	if r.Snapshot != nil && r.Snapshot.State != nil {
		s.state = r.Snapshot.State
	}
	s.turn, s.asked = turnView{loading: s.turn.loading}, asking{}
	s.load(s.state.Turn != nil)
}

// admit lets what waited go on.
func (s *Server) admit(err *protocol.Error) {
	waiting := s.waiting
	s.waiting = nil
	for i, then := range waiting {
		if s.phase == joining { // one of them created the session
			s.waiting = append(s.waiting, waiting[i:]...)
			return
		}
		then(err)
	}
}

// enter calls then once it is known whether there is a session, with an error if nobody may tell.
func (s *Server) enter(then func(*protocol.Error)) {
	switch {
	case s.phase != joining:
		then(nil)
	case len(s.waiting) >= maxWaiting:
		s.fail("Too many messages", nil)
	default:
		s.waiting = append(s.waiting, then)
	}
}

// create makes the session; then is called once it is followed.
func (s *Server) create(then func(*protocol.Error)) {
	s.phase = joining
	s.waiting = append(s.waiting, then)
	agent := ""
	if s.door.Agent != nil {
		agent = s.door.Agent(s.name)
	}
	s.native.Do(s.out, protocol.DoCreate, "", "", protocol.CreateData{Name: s.name, Agent: agent}, func(a protocol.Answer) {
		s.join(a.Error)
	})
}

// dismissed reports whether an event says that we do not follow the session any more, and goes on from there.
func (s *Server) dismissed(e *protocol.Event) bool {
	switch e.Type {
	case protocol.SummaryChanged:
		var d protocol.Summary
		if json.Unmarshal(e.Data, &d) == nil && d.Deleted {
			s.gone()
			return true
		}
	case protocol.ClientDetached:
		var d protocol.Client
		if json.Unmarshal(e.Data, &d) != nil || d.Client != s.connection || d.Reason == "" {
			return false
		}
		if d.Reason == string(protocol.CodeNoSession) {
			s.gone()
		} else {
			s.join(nil)
		}
		return true
	}
	return false
}

// gone ends what the client sees of a session that was deleted.
func (s *Server) gone() {
	if s.turn.loading {
		s.load(false)
	}
	s.leave()
	s.tell(said("", system, "The session was deleted. The next message begins a new one."))
}

package agentloop

import (
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// join follows the session; created says why it could not be created, if that was tried.
func (s *server) join(created *protocol.Error) {
	s.phase = joining
	name, data := s.name, protocol.SubscribeData{Position: s.sub.Position()}
	if s.sub.State != nil { // again
		name = s.sub.Session
	}
	s.Request(protocol.DoSubscribe, name, "", data, func(a protocol.Answer) {
		r, _ := codec.DecodeResult[protocol.SubscribeResult](a)
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
func (s *server) leave() {
	s.phase, s.sub = absent, codec.Subscription{}
	s.turn, s.asked = turnView{}, asking{}
}

// follow begins with what subscribe answered.
func (s *server) follow(r *protocol.SubscribeResult) {
	s.phase = present
	if s.sub.Start(r) {
		return
	}
	s.turn, s.asked = turnView{loading: s.turn.loading}, asking{}
	s.load(s.sub.State.Turn != nil)
}

// admit lets what waited go on.
func (s *server) admit(err *protocol.Error) {
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
func (s *server) enter(then func(*protocol.Error)) {
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
func (s *server) create(then func(*protocol.Error)) {
	s.phase = joining
	s.waiting = append(s.waiting, then)
	agent := ""
	if s.Options.Agent != nil {
		agent = s.Options.Agent(s.name)
	}
	s.Request(protocol.DoCreate, "", "", protocol.CreateData{Name: s.name, Agent: agent}, func(a protocol.Answer) {
		s.join(a.Error)
	})
}

// unsubscribed reports whether an event ends the subscription. If the session still exists, it subscribes again.
func (s *server) unsubscribed(e *protocol.Event) bool {
	why, ended := s.Unsubscribed(e)
	switch {
	case !ended:
	case why == protocol.CodeNoSession:
		s.gone()
	default:
		s.join(nil)
	}
	return ended
}

// gone ends what the client sees of a session that was deleted.
func (s *server) gone() {
	if s.turn.loading {
		s.load(false)
	}
	s.leave()
	s.tell(said("", system, "The session was deleted. The next message begins a new one."))
}

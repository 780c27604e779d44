package server

import (
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// subscribe subscribes to the session. created is the error of creating it, if that was tried.
func (s *Conn) subscribe(created *protocol.Error) {
	s.phase = joining
	name, data := s.name, protocol.SubscribeData{Position: s.sub.Position()}
	if s.sub.State != nil { // resubscribe
		name = s.sub.Session
	}
	s.Request(protocol.DoSubscribe, name, "", data, func(a protocol.Answer) {
		r, _ := codec.DecodeResult[protocol.SubscribeResult](a)
		switch {
		case a.Error == nil && r.Session != "":
			s.startSubscription(&r)
			s.releaseWaiting(nil)
		case created != nil:
			s.clearSession()
			s.releaseWaiting(created)
		case a.Error != nil && a.Error.Code != protocol.CodeNoSession:
			s.clearSession()
			s.releaseWaiting(a.Error)
		default:
			s.clearSession()
			s.releaseWaiting(nil)
		}
	})
}

// clearSession resets the state: there is no session.
func (s *Conn) clearSession() {
	s.phase, s.sub, s.size = absent, codec.Subscription{}, transcriptSize{}
	s.turn, s.shown = turnEncoder{}, shownApproval{}
}

// startSubscription takes the answer to subscribe.
func (s *Conn) startSubscription(r *protocol.SubscribeResult) {
	s.phase = present
	if s.sub.Start(r) {
		return
	}
	s.turn, s.shown, s.size = turnEncoder{loading: s.turn.loading}, shownApproval{}, transcriptSize{}
	s.setLoading(s.sub.State.Turn != nil)
}

// releaseWaiting calls the waiting functions.
func (s *Conn) releaseWaiting(err *protocol.Error) {
	waiting := s.waiting
	s.waiting = nil
	for i, then := range waiting {
		if s.phase == joining { // one of them creates the session
			s.waiting = append(s.waiting, waiting[i:]...)
			return
		}
		then(err)
	}
}

// whenKnown calls then once the session's existence is known, with an error if it cannot be.
func (s *Conn) whenKnown(then func(*protocol.Error)) {
	switch {
	case s.phase != joining:
		then(nil)
	case len(s.waiting) >= maxWaiting:
		s.fail("Too many messages", nil)
	default:
		s.waiting = append(s.waiting, then)
	}
}

// create creates the session and calls then once it is subscribed.
func (s *Conn) create(then func(*protocol.Error)) {
	s.phase = joining
	s.waiting = append(s.waiting, then)
	agent := ""
	if s.Options.Agent != nil {
		agent = s.Options.Agent(s.name)
	}
	s.Request(protocol.DoCreate, "", "", protocol.CreateData{Name: s.name, Agent: agent}, func(a protocol.Answer) {
		s.subscribe(a.Error)
	})
}

// unsubscribed reports whether an event ends the subscription. If the session still exists, it
// subscribes again.
func (s *Conn) unsubscribed(e *protocol.Event) bool {
	why, ended := s.Unsubscribed(e)
	switch {
	case !ended:
	case why == protocol.CodeNoSession:
		s.sessionDeleted()
	default:
		s.subscribe(nil)
	}
	return ended
}

// sessionDeleted tells the client that its session was deleted.
func (s *Conn) sessionDeleted() {
	if s.turn.loading {
		s.setLoading(false)
	}
	s.clearSession()
	s.sendSystem("The session was deleted. The next message begins a new one.")
}

package server

import (
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// maxWaiting bounds the messages of a client that wait for an answer or for the session.
const maxWaiting = 64

// A phase is the state of the server's subscription.
type phase int

const (
	joining phase = iota // subscribe or create was sent
	absent               // the session does not exist; the first input creates it
	present
)

// A subscription follows the only session of a connection, which the URL names.
type subscription struct {
	codec.Subscription // State is nil without a session

	x       *exchange
	name    string // of the session; static after construction
	phase   phase
	waiting []func(*protocol.Error) // called when the session is known, with an error if it cannot be had
	view    view
}

// subscribe subscribes to the session. created is the error of creating it, if that was tried.
func (s *subscription) subscribe(created *protocol.Error) {
	s.phase = joining
	name, data := s.name, protocol.SubscribeData{Position: s.Position()}
	if s.State != nil { // resubscribe
		name = s.Session
	}
	s.x.Request(protocol.DoSubscribe, name, "", data, func(a protocol.Answer) {
		r, _ := codec.DecodeResult[protocol.SubscribeResult](a)
		if a.Error == nil && r.Session != "" {
			s.start(&r)
			s.releaseWaiting(nil)
			return
		}
		s.clear()
		if created == nil && a.Error != nil && a.Error.Code != protocol.CodeNoSession {
			created = a.Error
		}
		s.releaseWaiting(created)
	})
}

// clear resets the state to no session.
func (s *subscription) clear() {
	s.phase, s.Subscription = absent, codec.Subscription{}
	s.view.reset()
	s.view.turn.loading = false
}

// start takes the answer to subscribe.
func (s *subscription) start(r *protocol.SubscribeResult) {
	s.phase = present
	if !s.Start(r) {
		s.view.reset()
		s.x.send(s.view.turn.setLoading(s.State.Turn != nil)...)
	}
}

// releaseWaiting calls the waiting functions.
func (s *subscription) releaseWaiting(err *protocol.Error) {
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
func (s *subscription) whenKnown(then func(*protocol.Error)) {
	switch {
	case s.phase != joining:
		then(nil)
	case len(s.waiting) >= maxWaiting:
		s.x.fail("", tooManyMessages, nil)
	default:
		s.waiting = append(s.waiting, then)
	}
}

// create creates the session and calls then once it is subscribed.
func (s *subscription) create(then func(*protocol.Error)) {
	s.phase = joining
	s.waiting = append(s.waiting, then)
	agent := ""
	if s.x.Options.Agent != nil {
		agent = s.x.Options.Agent(s.name)
	}
	s.x.Request(protocol.DoCreate, "", "", protocol.CreateData{Name: s.name, Agent: agent}, func(a protocol.Answer) {
		s.subscribe(a.Error)
	})
}

// event sends an event of agentctl's server.
func (s *subscription) event(e *protocol.Event) {
	if s.State == nil || e.Session != s.Session {
		return
	}
	why, ended := s.x.Unsubscribed(e)
	switch {
	case ended && why == protocol.CodeNoSession:
		s.x.send(s.view.turn.setLoading(false)...)
		s.clear()
		s.x.send(s.view.turn.system("The session was deleted. The next message begins a new one."))
	case ended: // the session still exists
		s.subscribe(nil)
	case e.Type == protocol.CaughtUp:
		s.CaughtUp = true
		s.x.send(s.view.showNextApproval()...)
	case e.Durable() && !s.Known(e) && s.Apply(e):
		s.x.send(s.view.event(e)...)
	}
}

package myagent

import "agentctl/protocol"

// An arrival is a session on its way into a connection. A client need not wait for it: what it says meanwhile without naming a
// session means the newest arrival, and is held until that is there.
type arrival struct {
	held []func(session string, err *protocol.Error)
}

// arrive begins an arrival; arrived must end it.
func (s *server) arrive() *arrival {
	s.arriving = new(arrival)
	return s.arriving
}

// hold keeps what a client said for a session that arrives.
func (s *server) hold(then func(session string, err *protocol.Error)) {
	s.arriving.held = append(s.arriving.held, then)
	s.held++
}

// arrived carries out what was held, in its order. What was meant for a session that never came must not reach another one.
func (s *server) arrived(a *arrival, session string, err *protocol.Error) {
	if s.arriving == a {
		s.arriving = nil
	}
	s.held -= len(a.held)
	for _, then := range a.held {
		then(session, err)
	}
}

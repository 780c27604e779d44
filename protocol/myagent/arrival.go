package myagent

import "agentctl/protocol"

// An arrival is a session on its way into a connection: one at a time, so that sessions come in the order in which they were asked for. A
// client need not wait for it: what it says meanwhile without naming a session means this one. That is held until the session is there,
// and so is what needs another arrival.
type arrival struct {
	held []func(*protocol.Error)
}

// arrive begins an arrival; arrived must end it.
func (s *server) arrive() *arrival {
	s.arriving = new(arrival)
	return s.arriving
}

// waits holds what the client said until the arrival under way is over, if there is one. The error says that it failed.
func (s *server) waits(then func(*protocol.Error)) bool {
	if s.arriving == nil {
		return false
	}
	s.arriving.held = append(s.arriving.held, then)
	s.held++
	return true
}

// arrived ends an arrival, at the session that the connection uses from now on unless err says that it never came, and carries out what
// was held, in its order.
func (s *server) arrived(a *arrival, session string, err *protocol.Error) {
	s.arriving = nil
	if err == nil {
		s.current = session
	}
	s.held -= len(a.held)
	for _, then := range a.held {
		then(err)
	}
}

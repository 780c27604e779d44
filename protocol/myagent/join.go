package myagent

import "agentctl/protocol"

// An arrival is a session on its way into a connection: one at a time, so that sessions come in the order in which they were asked for. A
// client need not wait for it: what it says meanwhile without naming a session means this one. That is held until the session is there,
// and so is what needs another arrival.
type join struct {
	deferred []func(*protocol.Error)
}

// arrive begins an arrival; arrived must end it.
func (s *serverCodec) startJoin() *join {
	s.joining = new(join)
	return s.joining
}

// waits holds what the client said until the arrival under way is over, if there is one. The error says that it failed.
func (s *serverCodec) deferUntilJoined(then func(*protocol.Error)) bool {
	if s.joining == nil {
		return false
	}
	s.joining.deferred = append(s.joining.deferred, then)
	s.deferred++
	return true
}

// arrived ends an arrival, at the session that the connection uses from now on unless err says that it never came, and carries out what
// was held, in its order.
func (s *serverCodec) finishJoin(a *join, session string, err *protocol.Error) {
	s.joining = nil
	if err == nil {
		s.current = session
	}
	s.deferred -= len(a.deferred)
	for _, then := range a.deferred {
		then(err)
	}
}

package server

import (
	"agentctl/protocol"
)

// A join is the attachment of a session to a connection. One runs at a time, so sessions are
// attached in the order of the client's frames. A frame without session_id that arrives during a
// join means the session being attached: it is deferred until the join ends, and so is a frame that
// needs a join of its own.
type join struct {
	deferred []func(*protocol.Error)
}

// startJoin starts a join. The caller must end it with finishJoin.
func (s *Conn) startJoin() *join {
	s.joining = new(join)
	return s.joining
}

// deferUntilJoined defers then until the current join ends, and returns false if there is none.
// then receives the join's error.
func (s *Conn) deferUntilJoined(then func(*protocol.Error)) bool {
	if s.joining == nil {
		return false
	}
	s.joining.deferred = append(s.joining.deferred, then)
	s.deferred++
	return true
}

// finishJoin ends a join and runs the deferred functions in order. If err is nil, session becomes
// the connection's current session.
func (s *Conn) finishJoin(j *join, session string, err *protocol.Error) {
	s.joining = nil
	if err == nil {
		s.current = session
	}
	s.deferred -= len(j.deferred)
	for _, then := range j.deferred {
		then(err)
	}
}

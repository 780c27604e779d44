package server

import "agentctl/protocol"

// A join is the attachment of a session to a connection. One runs at a time, so sessions are
// attached in the order of the client's frames. A frame without session_id that arrives during a
// join means the session being attached. It is deferred until the join ends, like a frame that
// needs another join.
type join struct {
	deferred []func(*protocol.Error)
}

// startJoin starts a join. The caller must end it with finishJoin.
func (a *attacher) startJoin() *join {
	a.joining = new(join)
	return a.joining
}

// deferUntilJoined defers then until the current join ends; then receives the join's error. It
// returns false if no join is running.
func (a *attacher) deferUntilJoined(then func(*protocol.Error)) bool {
	if a.joining == nil {
		return false
	}
	a.joining.deferred = append(a.joining.deferred, then)
	a.deferred++
	return true
}

// finishJoin ends a join and runs the deferred functions in order. If err is nil, session becomes
// the connection's current session.
func (a *attacher) finishJoin(j *join, session string, err *protocol.Error) {
	a.joining = nil
	if err == nil {
		a.subs.current = session
	}
	a.deferred -= len(j.deferred)
	for _, then := range j.deferred {
		then(err)
	}
}

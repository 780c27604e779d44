package client

import (
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A resumeState is the state shared by a client's successive connections: its sessions, the most
// recently used one last.
type resumeState struct{ sessions []*session }

// sessions are the sessions that the client knows.
type sessions struct {
	x       *exchange
	resume  *resumeState
	current *session // that a frame without session_id means; nil: none
}

// find returns the session with a name or id, or nil.
func (l *sessions) find(name string) *session {
	for _, s := range slices.Backward(l.resume.sessions) {
		if s.log.Session == name || s.serverID == name || slices.Contains(s.names, name) {
			return s
		}
	}
	return nil
}

// atServer returns the session with an id at the server, or nil.
func (l *sessions) atServer(id string) *session {
	i := slices.IndexFunc(l.resume.sessions, func(s *session) bool { return s.serverID == id })
	if i < 0 {
		return nil
	}
	return l.resume.sessions[i]
}

// add adds a session to this connection.
func (l *sessions) add(id string) *session {
	s := &session{x: l.x, log: codec.NewLog(id, l.x.Epoch()), serverID: id}
	if len(l.resume.sessions) >= maxSessions {
		i := max(0, slices.IndexFunc(l.resume.sessions, func(s *session) bool { return !s.log.Following() }))
		l.resume.sessions = slices.Delete(l.resume.sessions, i, i+1)
	}
	l.resume.sessions = append(l.resume.sessions, s)
	l.enter(s)
	return s
}

// enter makes a session the current one, on this connection.
func (l *sessions) enter(s *session) { s.connected, l.current = true, s }

// remove removes a session that was found to be the same as another one.
func (l *sessions) remove(s *session) {
	if i := slices.Index(l.resume.sessions, s); i >= 0 {
		l.resume.sessions = append(l.resume.sessions[:i:i], l.resume.sessions[i+1:]...)
	}
}

// logs returns the logs of the sessions, the most recently used one first.
func (l *sessions) logs(closed bool) (logs []*codec.Log) {
	for _, s := range slices.Backward(l.resume.sessions) {
		if closed || s.log.State.Status() != protocol.Closed {
			logs = append(logs, s.log)
		}
	}
	return logs
}

package effectiveagent

import (
	"encoding/json"

	"agentctl/protocol"
)

// resume continues the session as the server answered: after the client's position, with the
// session's state, or with a new log. It returns whether no past activities follow.
func (s *session) resume(n *note) (complete bool) {
	s.resumeAttempts = 0
	switch {
	case n.After != "" && n.After == s.position:
		s.log.ResumeReason = protocol.ResumeReplayed
	case !s.adoptState(n):
		s.renewLog()
	}
	if s.pastSeq == 0 {
		return true
	}
	s.resumeBy = s.x.Now.Add(resumeTimeout)
	return false
}

// isLastPast reports whether the past activity with an id is the last one.
func (s *session) isLastPast(id string) bool {
	s.resumeBy = s.x.Now.Add(resumeTimeout)
	at, err := protocol.ParsePosition(id)
	return err == nil && at.Seq >= s.pastSeq
}

// renewLog starts a new log: missed events are unknown.
func (s *session) renewLog() {
	s.turns.endLost()
	s.log.Renew(s.x.NextEpoch())
}

// adoptState takes a session's state from agentctl's server, for a new session or one with another
// log. It returns false if the note has none.
func (s *session) adoptState(n *note) bool {
	at, err := protocol.ParsePosition(n.After)
	state := new(protocol.State)
	if err != nil || len(n.State) == 0 || json.Unmarshal(n.State, state) != nil {
		return false
	}
	s.turns.endLost()
	if was, err := protocol.ParsePosition(s.position); err != nil || was.Epoch != at.Epoch {
		s.log.DropHistory()
	}
	s.log.Renew(s.x.NextEpoch())
	s.log.ResetReason = protocol.ResetFresh
	state.Seq = 0 // the log begins here: finished turns are not sent
	s.log.StartFrom(state)
	s.position, s.hasNotes, s.alias = n.After, true, turnAlias{}
	if n.PastSeq > at.Seq {
		s.pastSeq = n.PastSeq
	}
	return true
}

package session

import (
	"time"

	"agentctl/protocol"
)

// arm sets the session's one timer to the next thing that is due.
func (s *Session) arm() {
	next := s.audience.lagDue
	soonest := func(t time.Time) {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	for _, p := range s.state.Approvals {
		if p.Expires != nil {
			soonest(*p.Expires)
		}
	}
	for _, ed := range s.editors {
		soonest(ed.until)
	}
	if s.turn != nil {
		soonest(s.turn.giveUp)
	}
	soonest(s.mendAt)
	if s.unwatched() {
		soonest(s.touched.Add(s.hub.cfg.UnloadAfter))
	}
	if next.IsZero() {
		s.timer.Stop()
		return
	}
	s.timer.Reset(time.Until(next))
}

// tick does what is due.
func (s *Session) tick() {
	now := time.Now()
	s.audience.lookAtLag(s, now)
	s.expireApprovals(now)
	s.expireEdits(now)
	if t := s.turn; t != nil && !t.giveUp.IsZero() && !now.Before(t.giveUp) {
		s.forceEnd()
	}
	if !now.Before(s.mendAt) {
		s.mend()
	}
	if s.unwatched() && !now.Before(s.touched.Add(s.hub.cfg.UnloadAfter)) {
		s.unload()
	}
	s.arm()
}

// mend goes on after a failed commit: the turn that was cut is ended, and the queue runs on. It waits a while, or for the next
// command, which tries the store anyway.
func (s *Session) mend() {
	if s.mendAt.IsZero() {
		return
	}
	s.mendAt = time.Time{}
	s.cutTurn(protocol.CodeStorage, "the store failed: the turn was cut", protocol.QueueKeep)
	s.next()
}

// unwatched reports whether nobody would miss the session in memory.
func (s *Session) unwatched() bool {
	return s.turn == nil && s.state.Turn == nil && s.asides == 0 && len(s.audience.peers) == 0 && len(s.editors) == 0 &&
		s.batch == nil && s.inAir == nil
}

// unload ends the session's goroutine; the next use loads it again.
func (s *Session) unload() {
	s.closeAgent()
	s.ending = true
}

// cutTurn ends a turn whose agent is gone.
func (s *Session) cutTurn(code protocol.Code, message, queue string) {
	if s.state.Turn == nil || s.turn != nil {
		return
	}
	s.turn = &turn{id: s.turnID(), over: make(chan struct{}), cancel: func(error) {}, queue: queue}
	s.endTurn(End{Reason: protocol.ReasonError, Code: code, Message: message})
}

// dropTurn forgets the turn under way without a record, because the store failed: mend cuts what is recorded of it.
func (s *Session) dropTurn() {
	t := s.turn
	if t == nil {
		return
	}
	s.turn = nil
	t.cancel(errStorage)
	close(t.over)
	for _, a := range t.waiting {
		s.answer(a, nil, notKept())
	}
	for _, c := range s.closing {
		s.answer(c.a, nil, notKept())
	}
	s.closing = nil
	s.closeAgent()
}

// leaving reports whether no further turn may start.
func (s *Session) leaving() bool { return s.shutting || len(s.closing) > 0 || s.state.Closed }

// shutdown lets the session come to an end: a turn under way is cut, unless its agent goes on with it after the restart.
func (s *Session) shutdown() {
	s.shutting = true
	switch t := s.turn; {
	case t == nil:
	case t.reason != "": // somebody ended it, and waits
		s.endTurn(End{})
	case s.traits.Resumes:
		s.turn = nil
		t.cancel(errShutdown)
		close(t.over)
	default:
		t.queue = protocol.HoldRestart
		s.endTurn(End{Reason: protocol.ReasonError, Code: protocol.CodeServerRestart, Message: "the server was stopped"})
	}
	s.closeAgent()
	s.then(func(error) { s.ending = true })
}

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
	if t := s.turn; t != nil && !t.giveUp.IsZero() && !now.Before(t.giveUp) && !t.ended {
		s.forceEnd()
	}
	if !s.mendAt.IsZero() && !now.Before(s.mendAt) {
		s.mendAt = time.Time{}
		s.cutTurn(protocol.CodeStorage, "the store failed: the turn was cut", protocol.QueueKeep)
		s.next()
	}
	if s.unwatched() && !now.Before(s.touched.Add(s.hub.cfg.UnloadAfter)) {
		s.unload()
	}
	s.arm()
}

// unwatched reports whether nobody would miss the session in memory.
func (s *Session) unwatched() bool {
	return s.turn == nil && s.state.Turn == nil && len(s.audience.peers) == 0 && len(s.editors) == 0 && s.batch == nil && s.inAir == nil
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
	s.turn = &turn{id: s.turnID(), over: make(chan struct{}), cancel: func(error) {}, ended: true, queue: queue}
	s.endTurn(End{Reason: protocol.ReasonError, Code: code, Message: message})
}

// dropTurn forgets the turn under way without a record: what is recorded of it is cut later, by mend or after a restart.
func (s *Session) dropTurn(code protocol.Code, message string) {
	t := s.turn
	if t == nil {
		return
	}
	s.turn = nil
	t.cancel(errStorage)
	close(t.over)
	for _, a := range t.waiting {
		s.answer(a, nil, protocol.Errorf(code, "%s", message))
	}
	for _, c := range s.closing {
		s.answer(c.a, nil, protocol.Errorf(code, "%s", message))
	}
	s.closing = nil
	s.closeAgent()
}

// leaving reports whether no further turn may start.
func (s *Session) leaving() bool { return s.shutting || len(s.closing) > 0 || s.state.Closed }

// shutdown lets the session come to an end: a turn under way is cut, unless its agent goes on with it after the restart.
func (s *Session) shutdown() {
	s.shutting = true
	if t := s.turn; t != nil && !s.traits.Resumes {
		s.dropTurn(protocol.CodeShuttingDown, "the server is stopping")
		s.cutTurn(protocol.CodeServerRestart, "the server was stopped", protocol.HoldRestart)
	} else if t != nil {
		s.turn = nil
		t.cancel(errShutdown)
		close(t.over)
	}
	s.closeAgent()
	s.then(func(error) { s.ending = true })
}

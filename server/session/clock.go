package session

import (
	"time"
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

// unwatched reports whether nobody would miss the session in memory.
func (s *Session) unwatched() bool {
	return s.turn == nil && s.state.Turn == nil && s.asides == 0 && len(s.audience.peers) == 0 && len(s.editors) == 0 &&
		s.batch == nil && s.inAir == nil
}

package session

import (
	"time"
)

// deadlines are the session's one timer and the times that no other part of the session keeps.
type deadlines struct {
	timer        *time.Timer
	lastActivity time.Time
	retryAt      time.Time // when to continue after a failed commit; zero: nothing to do
}

// scheduleTimer sets the timer to the next deadline.
func (s *Session) scheduleTimer() {
	next := s.subscribers.nextLagCheck
	earliest := func(t time.Time) {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	for _, p := range s.state.Approvals {
		if p.Expires != nil {
			earliest(*p.Expires)
		}
	}
	for _, h := range s.editHolds {
		earliest(h.until)
	}
	if s.turn != nil {
		earliest(s.turn.deadline)
	}
	earliest(s.deadlines.retryAt)
	if s.unloadable() {
		earliest(s.deadlines.lastActivity.Add(s.hub.cfg.UnloadAfter))
	}
	if next.IsZero() {
		s.deadlines.timer.Stop()
		return
	}
	s.deadlines.timer.Reset(time.Until(next))
}

// handleTimer handles every deadline that has passed.
func (s *Session) handleTimer() {
	now := time.Now()
	s.subscribers.checkLag(s, now)
	s.expireApprovals(now)
	s.expireEditHolds(now)
	if t := s.turn; t != nil && !t.deadline.IsZero() && !now.Before(t.deadline) {
		s.forceEnd()
	}
	if !now.Before(s.deadlines.retryAt) {
		s.retryAfterFailure()
	}
	if s.unloadable() && !now.Before(s.deadlines.lastActivity.Add(s.hub.cfg.UnloadAfter)) {
		s.unload()
	}
	s.scheduleTimer()
}

// unloadable reports whether the session is idle and nothing in memory would be lost.
func (s *Session) unloadable() bool {
	return s.turn == nil && s.state.Turn == nil && s.asyncCommands == 0 && len(s.subscribers.list) == 0 &&
		len(s.editHolds) == 0 && s.batch == nil && s.inFlight == nil
}

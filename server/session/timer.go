package session

import (
	"time"

	"agentctl/server/agent"
	"agentctl/server/session/approval"
	"agentctl/server/session/queue"
)

// deadlines are the session's one timer and the times that no other part of the session keeps.
type deadlines struct {
	timer        *time.Timer
	touched      time.Time // activity without an event
	lastCommit   time.Time // zero: memory was released since
	retryAt      time.Time // when to continue after a failed commit; zero: nothing to do
	storeFailure string    // why the last commit failed, for the turn that it ended
	startAt      time.Time // when to start the agent for a subscriber; zero: not scheduled
}

// touch notes activity without an event. It postpones the unload.
func (d *deadlines) touch() { d.touched = time.Now() }

// lastActivity returns when the session was last touched or, at recorded, recorded an event itself.
func (d *deadlines) lastActivity(recorded time.Time) time.Time {
	if recorded.After(d.touched) {
		return recorded
	}
	return d.touched
}

// scheduleTimer sets the timer to the next deadline.
func (s *Session) scheduleTimer() {
	next := s.subscribers.Deadline()
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
	earliest(s.queue.Deadline())
	if !s.exit.closing(s.state) {
		earliest(queue.ScheduleCheck(s.state, time.Now()))
	}
	if s.turn != nil {
		earliest(s.turn.deadline)
	}
	earliest(s.deadlines.retryAt)
	earliest(s.deadlines.startAt)
	if s.idle() {
		earliest(s.idleCheck())
		if at := s.deadlines.lastCommit; !at.IsZero() {
			earliest(at.Add(releaseAfter))
		}
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
	s.subscribers.Check(now, s.journal.Log().Position().Seq)
	s.resolve(approval.Expire(s.state, now)...)
	s.queueTimeouts(now)
	if t := s.turn; t != nil && !t.deadline.IsZero() && !now.Before(t.deadline) {
		s.logger().Warn("agent did not stop in time: closing it", "turn", t.id)
		s.closeAgent()
		s.endTurn(agent.End{})
	}
	if !now.Before(s.deadlines.retryAt) {
		s.retryAfterFailure()
	}
	if at := s.deadlines.startAt; !at.IsZero() && !now.Before(at) {
		s.deadlines.startAt = time.Time{}
		if s.subscribers.Len() > 0 {
			s.startEarly()
		}
	}
	s.handleIdle(now)
	s.scheduleTimer()
}

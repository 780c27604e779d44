package session

import (
	"time"

	"agentctl/server/session/record"
)

// releaseAfter is the time from the last commit of an idle session until it frees the memory of its
// log.
const releaseAfter = time.Minute

// idle reports whether the session has nothing to do.
func (s *Session) idle() bool {
	return s.turn == nil && s.state.Turn == nil && s.asyncCommands == 0 && !s.slot.Starting() && s.journal.Idle()
}

// unloadable reports whether the session is idle and nothing in memory would be lost.
func (s *Session) unloadable() bool {
	return s.idle() && s.subscribers.Len() == 0 && s.queue.Empty() && s.slot.Idle() &&
		s.state.NextScheduled() == nil
}

// forgetIdleEnd notes that the agent is in use again.
func (s *Session) forgetIdleEnd() {
	if s.spec.IdleEnd != nil {
		s.spec.IdleEnd = nil
		s.storeSpec()
	}
}

// idleCheck returns when an idle session is looked at next: to end its agent, or to unload it.
// Zero: not before something happens.
func (s *Session) idleCheck() time.Time {
	last := s.deadlines.lastActivity(s.recorder.Last())
	if p := s.slot.Process(); p.Running {
		next := time.Now().Add(s.hub.cfg.UnloadAfter) // the process may have exited
		end := last.Add(s.hub.settings().AgentIdle)
		if p.Restores && end.Before(next) && !subAgentsWork(s.hub, s.id) {
			return end
		}
		return next
	}
	if s.unloadable() {
		return last.Add(s.hub.cfg.UnloadAfter)
	}
	return time.Time{}
}

// handleIdle frees memory, ends the agent and unloads the session when they were idle for long
// enough.
func (s *Session) handleIdle(now time.Time) {
	if !s.idle() {
		return
	}
	if at := s.deadlines.lastCommit; !at.IsZero() && now.Sub(at) >= releaseAfter {
		s.journal.Release()
		s.mail.output.Free()
		s.deadlines.lastCommit = time.Time{}
	}
	idle := now.Sub(s.deadlines.lastActivity(s.recorder.Last()))
	if p := s.slot.Process(); p.Running && p.Restores && idle >= s.hub.settings().AgentIdle && !subAgentsWork(s.hub, s.id) {
		at := record.Time(time.Now()) // the next agent continues where it was
		s.spec.IdleEnd = &at
		s.storeSpec()
		s.logger().Info("end idle agent")
		s.closeAgent()
		return
	}
	if s.unloadable() && idle >= s.hub.cfg.UnloadAfter {
		s.closeAgent()
		s.exit.ending = true // the next use loads the session again
	}
}

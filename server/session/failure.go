package session

import (
	"context"
	"errors"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/session/approval"
	"agentctl/server/session/stored"
)

// errNotStored returns the error for a client whose command could not be stored.
func errNotStored(cause error) error {
	return protocol.Errorf(protocol.CodeStorage, "%s; nothing was changed, try again", storeFailure(cause))
}

// storeFailure describes why the store failed, as far as a user can act on it.
func storeFailure(cause error) string {
	switch {
	case errors.Is(cause, eventlog.ErrFull):
		return "the server's disk is full: free some space"
	case errors.Is(cause, eventlog.ErrReadOnly):
		return "the server's disk or database is read-only: make it writable"
	}
	return "the store failed"
}

// reload restores the state from the store after a failed commit. It discards the current turn,
// because its agent may have emitted events that are lost. It tries again each second until the
// store answers or the server stops. If the first attempt takes longer than a second, it refuses
// requests of clients, and waiters with Refuse, until the store answers. It returns the other
// waiters.
func (s *Session) reload(waiters []eventlog.Waiter, cause error) []eventlog.Waiter {
	s.deadlines.storeFailure = storeFailure(cause)
	s.idempotency.Reset()
	s.discardTurn(cause)
	s.approvals.Reset()
	var requests chan request // nil: not refused
	refuse := func() {
		requests = s.mail.requests
		waiters = slices.DeleteFunc(waiters, func(w eventlog.Waiter) bool {
			if w.Refuse != nil {
				w.Refuse(errNotStored(cause))
			}
			return w.Refuse != nil
		})
	}
	read := s.readStored()
	retry := time.NewTicker(time.Second)
	defer retry.Stop()
	for {
		select {
		case found := <-read:
			read = nil
			if found.err == nil {
				s.adopt(found.Session)
				s.queue.Adopt(s.state, time.Now().Add(s.hub.settings().EditHold))
				s.deadlines.retryAt = time.Now().Add(time.Second)
				return waiters
			}
			if errors.Is(found.err, eventlog.ErrNotFound) { // its creation was not committed
				s.exit.ending = true
				return waiters
			}
			s.logger().Error("reload session", "err", found.err)
			refuse()
		case <-retry.C:
			refuse()
			if read == nil {
				read = s.readStored()
			}
		case r := <-requests:
			r.refuse(protocol.Errorf(protocol.CodeStorage, "the store does not answer; nothing was changed, try again"))
		case <-s.hub.sessions.ctx.Done():
			s.exit.ending = true
			return waiters
		}
	}
}

// A storedResult is the stored session, or the error of reading it.
type storedResult struct {
	*stored.Session
	err error
}

// readStored reads the session from the store, off the session's goroutine.
func (s *Session) readStored() <-chan storedResult {
	result := make(chan storedResult, 1)
	s.hub.agents.Go(func() {
		ctx, cancel := context.WithTimeout(s.background, readTimeout)
		defer cancel()
		found, err := stored.Read(ctx, s.hub.cfg.Store, s.hub.specs, s.id)
		result <- storedResult{found, err}
	})
	return result
}

// discardTurn ends the current turn without recording it; retryAfterFailure records its end later.
// Commands that wait for the turn fail.
func (s *Session) discardTurn(cause error) {
	t := s.turn
	if t == nil {
		return
	}
	s.turn = nil
	t.cancel(errStorage)
	close(t.done)
	for _, cmd := range t.interrupts {
		s.answer(cmd, nil, errNotStored(cause))
	}
	for _, cmd := range s.exit.closes {
		s.answer(cmd, nil, errNotStored(cause))
	}
	s.exit.closes = nil
	s.closeAgent()
}

// retryAfterFailure continues after a failed commit: it records the end of the discarded turn and
// starts the next queued one. It runs after a second, or before the next command that changes
// state.
func (s *Session) retryAfterFailure() {
	if s.deadlines.retryAt.IsZero() {
		return
	}
	s.deadlines.retryAt = time.Time{}
	s.resolve(approval.CancelSubAgents(s.state)...)
	s.abortTurn(protocol.CodeStorage, "this turn was not stored: "+s.deadlines.storeFailure, protocol.QueueKeep)
	s.startNext()
}

package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentctl/protocol"
)

func errNotStored() error {
	return protocol.Errorf(protocol.CodeStorage, "the store failed; nothing was changed, try again")
}

// reload restores the state from the store after a failed commit. It discards the turn under way,
// because its agent may have emitted events that are lost. It retries once a second until the store
// answers or the server stops.
func (s *Session) reload() {
	s.idempotency.reset()
	s.discardTurn()
	s.approvals.reset()
	for {
		err := s.reloadState()
		if err == nil {
			break
		}
		if errors.Is(err, ErrNotFound) { // its creation was not committed
			s.exit.ending = true
			return
		}
		s.hub.log.Error("reload session", "session", s.id, "err", err)
		select {
		case <-time.After(time.Second):
		case <-s.stop:
			s.exit.ending = true
			return
		}
	}
	s.published.stale = true
	s.deadlines.retryAt = time.Now().Add(time.Second)
}

// reloadState reads state and spec from the store.
func (s *Session) reloadState() error {
	ctx, cancel := context.WithTimeout(s.background, 30*time.Second)
	defer cancel()
	rec, err := s.hub.cfg.Store.Session(ctx, s.id)
	if err != nil {
		return fmt.Errorf("read session: %w", err)
	}
	state, err := loadState(ctx, s.hub.cfg.Store, rec)
	if err != nil {
		return err
	}
	spec, err := decodeSpec(rec)
	if err != nil {
		return err
	}
	s.adopt(rec, state, spec)
	s.adoptEditHolds()
	return nil
}

// discardTurn ends the turn under way without recording it; retryAfterFailure records its end
// later. Commands that wait for it fail.
func (s *Session) discardTurn() {
	t := s.turn
	if t == nil {
		return
	}
	s.turn = nil
	t.cancel(errStorage)
	close(t.done)
	for _, cmd := range t.interrupts {
		s.answer(cmd, nil, errNotStored())
	}
	for _, c := range s.exit.closes {
		s.answer(c.cmd, nil, errNotStored())
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
	s.abortTurn(protocol.CodeStorage, "the store failed during this turn", protocol.QueueKeep)
	s.startNext()
}

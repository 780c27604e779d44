package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentctl/protocol"
)

func notKept() error {
	return protocol.Errorf(protocol.CodeStorage, "the store did not take it; nothing was changed, try again")
}

// fallBack reloads the state from the store after a failed commit. The turn under way cannot go on: its agent may have said
// what is lost.
func (s *Session) fallBack() {
	s.answers.reset()
	s.dropTurn()
	s.approvals.reset()
	for {
		err := s.restoreState()
		if err == nil {
			break
		}
		if errors.Is(err, ErrNotFound) { // it never was kept
			s.ending = true
			return
		}
		s.hub.log.Error("reload session", "session", s.id, "err", err)
		select {
		case <-time.After(time.Second):
		case <-s.stop:
			s.ending = true
			return
		}
	}
	s.changed = true
	s.mendAt = time.Now().Add(time.Second)
}

// restoreState takes what the store holds for what is true.
func (s *Session) restoreState() error {
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
	spec, err := specOf(rec)
	if err != nil {
		return err
	}
	s.state, s.spec, s.live = state, spec, rec.Live
	s.boundary, s.boundSeq = rec.Snapshot, rec.SnapSeq
	s.adoptEdits()
	return nil
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

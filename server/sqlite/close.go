package sqlite

import (
	"errors"
	"fmt"
)

// Close stops the housekeeping, waits for the reads under way, puts everything into the database file and marks it as
// cleanly closed; a store that failed is left as it is. No other call may follow.
func (s *Store) Close() error {
	s.stop()
	<-s.stopped
	for range readConns {
		<-s.readers
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.failed
	if err == nil {
		if err = s.markClean(); err != nil {
			err = fmt.Errorf("close store: %w", s.checkFailure(err))
		}
	}
	return errors.Join(err, s.release())
}

// markClean marks the store clean behind everything that was committed: the log is kept in order, so that the mark is
// never there without what precedes it. The caller holds mu.
func (s *Store) markClean() error {
	clean := s.run
	clean.clean = true
	if err := transact(s.writer, func() error { return saveRunRecord(s.writer, clean) }); err != nil {
		return err
	}
	return runCheckpoint(s.checkpointConn, truncate)
}

// release closes what Open has opened so far. The last connection to be closed checkpoints, which a store that failed
// must not do: its writer stays open for as long as the process lives.
func (s *Store) release() error {
	var errs []error
	for _, conn := range s.conns {
		if s.failed == nil || conn != s.writer {
			errs = append(errs, conn.Close())
		}
	}
	return errors.Join(append(errs, s.lock.Close())...)
}

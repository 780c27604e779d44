package sqlite

import (
	"fmt"

	"zombiezen.com/go/sqlite"

	"agentctl/server/session"
)

// Commit writes all batches in one transaction. Any goroutine may call it, which session.Store does
// not require.
//
// A batch, and with it the whole commit, is refused when its session does not exist, when its
// events do not follow the last event or are not one line per seq, or when a fold or snapshot is
// past the last event. The first answer, decision or blob under a key is kept.
//
// A commit that failed in fsync may still be found by a later Open.
func (s *Store) Commit(batches []*session.Batch) error {
	err := s.write(func(conn *sqlite.Conn) (int, error) {
		size := 0
		for _, b := range batches {
			n, err := applyBatch(conn, b)
			if err != nil {
				return 0, fmt.Errorf("session %s: %w", b.Session, err)
			}
			size += n
		}
		return size, nil
	})
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	for _, b := range batches {
		if b.Delete {
			notify(s.removed)
		}
	}
	return nil
}

// write runs do in one transaction of the writer. do returns the approximate number of bytes it
// adds to the write-ahead log.
func (s *Store) write(do func(*sqlite.Conn) (int, error)) error {
	s.limitWAL()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return s.failed
	}
	size := 0
	err := transact(s.writer, func() (err error) {
		size, err = do(s.writer)
		return err
	})
	if err != nil {
		return s.checkFailure(err)
	}
	s.walBytes.Add(int64(size))
	notify(s.committed)
	return nil
}

// checkFailure stops the store when err is fatal or left the writer inside a transaction. The
// caller holds mu.
func (s *Store) checkFailure(err error) error {
	if isFatal(err) || !s.writer.AutocommitEnabled() {
		s.failed = fmt.Errorf("%w: %w", session.ErrStoreFailed, err)
		return s.failed
	}
	return err
}

// failure returns the error that stopped the store, or nil.
func (s *Store) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

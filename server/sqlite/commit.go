package sqlite

import (
	"fmt"

	"zombiezen.com/go/sqlite"

	"agentctl/server/session"
)

// Commit writes all batches in one transaction. Unlike what session.Store says of one caller, any goroutine may call it.
//
// A batch is refused, and with it the whole commit, when its session does not exist, when its events do not follow the
// session's last one or are not one line per seq, or when a fold or snapshot reaches past them. Of answers, decisions and
// blobs the first under a key stays.
//
// The batch whose sync failed is the one exception to nothing being kept: a later Open may find it.
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

// write runs do, which returns about how many bytes it adds to the log, in one transaction of the writer.
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

// checkFailure stops the store when err is final or left the writer inside a transaction. The caller holds mu.
func (s *Store) checkFailure(err error) error {
	if isFatal(err) || !s.writer.AutocommitEnabled() {
		s.failed = fmt.Errorf("%w: %w", session.ErrStoreFailed, err)
		return s.failed
	}
	return err
}

// failure returns why the store takes no more commits, nil while it does.
func (s *Store) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

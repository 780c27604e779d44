package sqlite

import (
	"fmt"

	"agentctl/server/eventlog"

	"zombiezen.com/go/sqlite"
)

// Commit writes all batches in one transaction. Any goroutine may call it, which session.Store does
// not require.
//
// A batch, and with it the whole commit, is refused when its session does not exist, when its
// events do not follow the last event or are not one line per seq, or when a fold or snapshot is
// past the last event. The first answer, decision or blob under a key is kept.
//
// A commit that failed in fsync may still be found by a later Open.
func (s *Store) Commit(batches []*eventlog.Batch) error {
	err := s.write(func(*sqlite.Conn) (int, error) {
		size := 0
		for _, b := range batches {
			n, err := applyBatch(&s.writer, b)
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
		s.merges.add(b)
		if b.Delete {
			notify(s.removed)
		}
	}
	return nil
}

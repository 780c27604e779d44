package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"

	"zombiezen.com/go/sqlite"
)

// Once an eighth of walLimit is committed, it is moved from the log to the database. A log of walLimit bytes makes reads
// and commits wait until it is empty, as soon as the housekeeping sees it; a commit that finds twice that much does it
// itself.
const walLimit = 64 << 20

// The checkpoint modes used. Neither waits for anybody.
const (
	passive  = "PRAGMA wal_checkpoint(PASSIVE)"  // moves what it can while commits and reads go on
	truncate = "PRAGMA wal_checkpoint(TRUNCATE)" // moves everything and empties the log, when nobody else is at it
)

var errBusy = errors.New("log is in use")

// checkpoint checkpoints beside commits and reads, and in their stead once the log is too long: under an unbroken stream of
// them no checkpoint ever catches up, and only one that does lets the log start over.
func (s *Store) checkpoint(ctx context.Context) error {
	size, err := s.walSize()
	if err != nil {
		return err
	}
	if size >= s.walLimit {
		return s.truncateWAL(ctx)
	}
	return s.checkpointPassive()
}

func (s *Store) walSize() (int64, error) {
	info, err := os.Stat(s.path + "-wal")
	if err != nil {
		return 0, fmt.Errorf("size of log: %w", err)
	}
	return info.Size(), nil
}

// limitWAL keeps the log bounded however late the housekeeping comes. What keeps it from emptying the log is told by the
// commit that follows, or passes.
func (s *Store) limitWAL() {
	if size, err := s.walSize(); err == nil && size >= 2*s.walLimit {
		if err := s.truncateWAL(context.Background()); err != nil && !errors.Is(err, errBusy) {
			s.log.Warn("empty log before a commit", "err", err)
		}
	}
}

// checkpointPassive moves what was committed when it began.
func (s *Store) checkpointPassive() error {
	s.checkpointMu.Lock()
	defer s.checkpointMu.Unlock()
	if err := s.failure(); err != nil {
		return err
	}
	s.walBytes.Store(0)
	err := runCheckpoint(s.checkpointConn, passive)
	if err == nil || errors.Is(err, errBusy) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.checkFailure(err)
}

// truncateWAL moves everything and empties the log, for which reads and commits have to wait.
func (s *Store) truncateWAL(ctx context.Context) error {
	s.checkpointMu.Lock()
	defer s.checkpointMu.Unlock()
	for taken := range readConns {
		conn, err := s.readers.get(ctx)
		if err != nil {
			return fmt.Errorf("wait for %d reads: %w", readConns-taken, err)
		}
		defer s.readers.put(conn)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return s.failed
	}
	s.walBytes.Store(0)
	return s.checkFailure(runCheckpoint(s.checkpointConn, truncate))
}

// runCheckpoint runs one checkpoint; errBusy says that somebody kept it from finishing.
func runCheckpoint(conn *sqlite.Conn, mode string) error {
	q := prepare(conn, mode)
	defer q.reset()
	if _, err := q.next(); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	if q.intAt(0) != 0 {
		return errBusy
	}
	return nil
}

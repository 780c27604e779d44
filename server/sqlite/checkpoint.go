package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"

	"zombiezen.com/go/sqlite"
)

// Commits are moved from the log to the database along the way, when much was committed, so that the log stays short,
// and wholly when it is quiet, so that what a power cut can take is at most the last moments.
const (
	checkpointBytes = 8 << 20  // committed since the last checkpoint began, before the next one begins
	logLimit        = 64 << 20 // size of the write-ahead log that makes reads and commits wait until it is empty
)

// The checkpoint modes used. Neither waits for anybody.
const (
	passive  = "PRAGMA wal_checkpoint(PASSIVE)"  // moves what it can while commits and reads go on
	truncate = "PRAGMA wal_checkpoint(TRUNCATE)" // moves everything and empties the log, when nobody else is at it
)

var errBusy = errors.New("log is in use")

// move checkpoints beside commits and reads, and in their stead once the log is too long: under an unbroken stream of
// them no checkpoint ever catches up, and only one that does lets the log start over.
func (s *Store) move(ctx context.Context) error {
	info, err := os.Stat(s.path + "-wal")
	if err != nil {
		return fmt.Errorf("size of log: %w", err)
	}
	if info.Size() >= logLimit {
		return s.empty(ctx)
	}
	return s.moveSome()
}

// moveSome moves what was committed when it began.
func (s *Store) moveSome() error {
	if err := s.failure(); err != nil {
		return err
	}
	s.unmoved.Store(0)
	err := checkpoint(s.checkpoints, passive)
	if err == nil || errors.Is(err, errBusy) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.judgeFailure(err)
}

// empty moves everything and empties the log, for which reads and commits have to wait.
func (s *Store) empty(ctx context.Context) error {
	for taken := range readConns {
		conn, err := s.readers.take(ctx)
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
	s.unmoved.Store(0)
	return s.judgeFailure(checkpoint(s.checkpoints, truncate))
}

// checkpoint runs one checkpoint; errBusy says that somebody kept it from finishing.
func checkpoint(conn *sqlite.Conn, mode string) error {
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

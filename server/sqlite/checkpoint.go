package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"zombiezen.com/go/sqlite"
)

const (
	checkpointBytes = 8 << 20  // committed since the last checkpoint began, before the next one begins
	logLimit        = 64 << 20 // size of the write-ahead log that makes commits wait until it is empty
)

// The checkpoint modes used. Neither waits for anybody.
const (
	passive  = "PRAGMA wal_checkpoint(PASSIVE)"  // moves what it can while commits and reads go on
	truncate = "PRAGMA wal_checkpoint(TRUNCATE)" // moves everything and empties the log; commits must stand still
)

var errBusy = errors.New("log is being read")

// checkpointLoop moves commits from the log to the database: along the way when much was committed, so that the log
// stays short, and wholly when it is quiet, so that what a power cut can take is at most the last moments.
func (s *Store) checkpointLoop(ctx context.Context) {
	defer close(s.stopped)
	idle := time.NewTimer(s.quiet)
	defer idle.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-s.wrote:
			idle.Reset(s.quiet)
			if s.unmoved.Load() >= checkpointBytes {
				err = s.move()
			}
		case <-idle.C:
			if err = s.empty(); err != nil {
				idle.Reset(s.quiet)
			}
		}
		if err != nil && !errors.Is(err, errBusy) {
			s.log.Warn("checkpoint failed and will be tried again", "error", err)
		}
	}
}

// move checkpoints beside the commits, and in their stead once the log is too long: under an unbroken stream of commits
// no checkpoint ever catches up, and only one that does lets the log start over.
func (s *Store) move() error {
	s.unmoved.Store(0)
	if err := s.checkpoint(passive); err != nil {
		return err
	}
	info, err := os.Stat(s.path + "-wal")
	if err != nil {
		return fmt.Errorf("size of log: %w", err)
	}
	if info.Size() < logLimit {
		return nil
	}
	return s.empty()
}

// empty moves everything and empties the log. Most of it is moved before commits have to wait.
func (s *Store) empty() error {
	s.unmoved.Store(0)
	if err := s.checkpoint(passive); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.judgeFailure(checkpoint(s.checkpoints, truncate))
}

func (s *Store) checkpoint(mode string) error {
	err := checkpoint(s.checkpoints, mode)
	if err == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.judgeFailure(err)
}

// checkpoint runs one checkpoint; errBusy says that readers kept it from finishing.
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

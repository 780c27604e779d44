package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"zombiezen.com/go/sqlite"
)

// walLimit is the size in bytes at which the write-ahead log is emptied. After an eighth of it is
// committed, a checkpoint copies the log to the database while commits and reads continue. At
// walLimit the maintenance goroutine stops reads and commits until the log is empty. A commit that
// finds the log at twice walLimit empties it first.
const walLimit = 64 << 20

// Checkpoint modes. Neither waits for other connections.
const (
	passive  = "PRAGMA wal_checkpoint(PASSIVE)"  // copies as much as it can while commits and reads continue
	truncate = "PRAGMA wal_checkpoint(TRUNCATE)" // copies everything and empties the log; needs exclusive use
)

var errBusy = errors.New("write-ahead log is in use")

// A checkpointer is the connection that runs checkpoints.
type checkpointer struct {
	mu       sync.Mutex   // held to use conn or to take all readers; locked before the mutex of the writer
	conn     *sqlite.Conn // guarded by mu
	walBytes atomic.Int64 // approximate bytes committed since the last checkpoint started
	unlooked atomic.Int64 // the same since limitWAL has looked at the size of the log
}

// checkpoint copies the log while commits and reads continue, or empties it at walLimit. Under an
// unbroken stream of commits and reads a passive checkpoint never completes, and the log only
// restarts after one that completes.
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
		return 0, fmt.Errorf("size of write-ahead log: %w", err)
	}
	return info.Size(), nil
}

// limitWAL bounds the log when maintenance is late. It looks after each eighth of walLimit. It
// ignores errors except for a log entry: the commit that follows either fails with the same error
// or succeeds.
func (s *Store) limitWAL() {
	if s.checkpoints.unlooked.Load() < s.walLimit/8 {
		return
	}
	s.checkpoints.unlooked.Store(0)
	if size, err := s.walSize(); err == nil && size >= 2*s.walLimit {
		if err := s.truncateWAL(context.Background()); err != nil && !errors.Is(err, errBusy) {
			s.log.Warn("truncate write-ahead log before commit", "err", err)
		}
	}
}

// checkpointPassive copies to the database everything that was committed before the call.
func (s *Store) checkpointPassive() error {
	s.checkpoints.mu.Lock()
	defer s.checkpoints.mu.Unlock()
	if err := s.writer.failure(); err != nil {
		return err
	}
	s.checkpoints.walBytes.Store(0)
	_, err := runCheckpoint(s.checkpoints.conn, passive)
	if err == nil || errors.Is(err, errBusy) {
		return nil
	}
	s.writer.mu.Lock()
	defer s.writer.mu.Unlock()
	return s.writer.checkFailure(err)
}

// truncateWAL copies everything to the database and empties the log. Reads and commits wait for it.
func (s *Store) truncateWAL(ctx context.Context) error {
	s.checkpoints.mu.Lock()
	defer s.checkpoints.mu.Unlock()
	for taken := range readConns {
		conn, err := s.readers.get(ctx)
		if err != nil {
			return fmt.Errorf("wait for %d reads: %w", readConns-taken, err)
		}
		defer s.readers.put(conn)
	}
	s.writer.mu.Lock()
	defer s.writer.mu.Unlock()
	if s.writer.failed != nil {
		return s.writer.failed
	}
	s.checkpoints.walBytes.Store(0)
	_, err := runCheckpoint(s.checkpoints.conn, truncate)
	return s.writer.checkFailure(err)
}

// runCheckpoint runs one checkpoint, and reports whether it has copied all of the log. It returns
// errBusy when another connection prevented completion.
func runCheckpoint(conn *sqlite.Conn, mode string) (all bool, err error) {
	err = prepare(conn, mode).one(func(q *statement) error {
		if q.intAt(0) != 0 {
			return errBusy
		}
		all = q.intAt(1) == q.intAt(2) // frames of the log, frames copied
		return nil
	})
	return all, wrap(err, "checkpoint")
}

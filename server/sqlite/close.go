package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Close stops maintenance, waits for running reads, checkpoints the log and marks the database as
// cleanly closed. After a fatal error it changes nothing. No other call may follow.
func (s *Store) Close() error {
	s.stop()
	<-s.stopped
	for range readConns {
		<-s.readers
	}
	s.writer.mu.Lock()
	defer s.writer.mu.Unlock()
	err := s.writer.failed
	if err == nil {
		if err = s.markClean(); err != nil {
			err = fmt.Errorf("close store: %w", s.writer.checkFailure(err))
		}
	}
	return errors.Join(err, s.release())
}

// markClean records a clean close, and the turns to merge, after everything committed. The log is
// ordered, so the record never exists without the commits before it. The caller holds the mutex of
// the writer.
func (s *Store) markClean() error {
	r := s.run
	r.clean = true
	err := transact(s.writer.conn, func() error {
		if err := saveUnmerged(s.writer.conn, s.merges.turns); err != nil {
			return err
		}
		if err := saveRunRecord(s.writer.conn, r); err != nil {
			return err
		}
		return s.writer.files.check()
	})
	if err != nil {
		return err
	}
	if _, err := runCheckpoint(s.checkpoints.conn, truncate); err != nil {
		return err
	}
	return markClosed(filepath.Dir(s.path))
}

// release closes everything that Open has opened so far. The last connection to close checkpoints
// and removes the log. After a fatal error that must not happen, so the writer then stays open
// until the process exits.
func (s *Store) release() error {
	var errs []error
	for _, conn := range s.conns {
		if s.writer.failed == nil || conn != s.writer.conn {
			errs = append(errs, conn.Close())
		}
	}
	if s.writer.conn != nil && s.writer.failed == nil { // also after an Open that failed
		if _, err := os.Stat(s.path + "-wal"); errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, markClosed(filepath.Dir(s.path)))
		}
	}
	return errors.Join(append(errs, s.lock.Close())...)
}

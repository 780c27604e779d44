package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"agentctl/server/eventlog"

	"zombiezen.com/go/sqlite"
)

// A writer is the only connection that writes.
type writer struct {
	mu      sync.Mutex   // one transaction or one truncation of the write-ahead log at a time
	conn    *sqlite.Conn // guarded by mu
	files   openFiles    // guarded by mu
	failed  error        // guarded by mu; the first fatal error, returned by every later commit
	cache   sessionCache // guarded by mu
	scratch              // guarded by mu
}

// checkFailure stops the store when err is fatal or left the connection inside a transaction. If
// only the write-ahead log was removed, its commits are copied to the database, which then needs no
// log. The caller holds mu.
func (w *writer) checkFailure(err error) error {
	if errors.Is(err, errRemoved) {
		if all, copied := runCheckpoint(w.conn, passive); copied == nil && all && w.files.list[0].check() == nil {
			_ = markClosed(filepath.Dir(w.files.list[0].path)) // the store stops in any case
		}
	}
	if isFatal(err) || !w.conn.AutocommitEnabled() {
		w.failed = fmt.Errorf("%w: %w", eventlog.ErrStoreFailed, err)
		return w.failed
	}
	return err
}

// failure returns the error that stopped the store, or nil.
func (w *writer) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

// write runs do in one transaction of the writer. do returns the approximate number of bytes it
// adds to the write-ahead log.
func (s *Store) write(do func(*sqlite.Conn) (int, error)) error {
	s.limitWAL()
	s.writer.mu.Lock()
	defer s.writer.mu.Unlock()
	if s.writer.failed != nil {
		return s.writer.failed
	}
	size := 0
	err := transact(s.writer.conn, func() (err error) {
		if size, err = do(s.writer.conn); err != nil {
			return err
		}
		return s.writer.files.checkSometimes()
	})
	if err != nil {
		clear(s.writer.cache.sessions)
		return s.writer.checkFailure(err)
	}
	s.checkpoints.walBytes.Add(int64(size))
	s.checkpoints.unlooked.Add(int64(size))
	notify(s.committed)
	return nil
}

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
		return wrap(err, "commit")
	}
	for _, b := range batches {
		s.merges.add(b)
		if b.Delete {
			notify(s.removed)
		}
	}
	return nil
}

// transact runs do in one write transaction. After an error nothing is kept and conn is usable
// again, unless the rollback failed and conn is still inside the transaction.
func transact(conn *sqlite.Conn, do func() error) error {
	if err := prepare(conn, "BEGIN IMMEDIATE").run(); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	err := do()
	if err == nil {
		if err = prepare(conn, "COMMIT").run(); err == nil {
			return nil
		}
		err = fmt.Errorf("commit: %w", err)
	}
	// After some errors SQLite has already rolled back.
	if !conn.AutocommitEnabled() {
		if undo := prepare(conn, "ROLLBACK").run(); undo != nil {
			return errors.Join(err, fmt.Errorf("roll back: %w", undo))
		}
	}
	return err
}

// maxCached is the default number of sessions in a sessionCache: about 2 MB.
const maxCached = 16 << 10

// A sessionCache has the numbers and heads of sessions as the writer has last written them, so that
// a batch does not look them up. While a store is open only its writer changes them. After an error
// the cache is emptied: it may have rolled-back values. Guarded by the mutex of the writer.
type sessionCache struct {
	sessions map[string]cachedSession // by id
	limit    int
}

type cachedSession struct {
	n    int64
	head head
}

// put enters a session. A full cache drops a random one.
func (c *sessionCache) put(id string, s cachedSession) {
	if _, ok := c.sessions[id]; !ok && len(c.sessions) >= c.limit {
		for other := range c.sessions {
			delete(c.sessions, other)
			break
		}
	}
	c.sessions[id] = s
}

package sqlite

import (
	"context"
	"errors"
	"fmt"

	"agentctl/server/eventlog"

	"zombiezen.com/go/sqlite"
)

// collectRows is the maximum number of rows that one transaction of collectRemoved deletes per
// table. It bounds how long a commit waits for that transaction.
const collectRows = 16

// removeSession removes a session. Its number is never reused. Large tables are left to
// collectRemoved. A missing session is not an error.
func removeSession(conn *sqlite.Conn, id string) error {
	n, err := sessionNumber(conn, id)
	if errors.Is(err, eventlog.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, table := range []string{"session", "spec", "head", "snapshot", "decision", "process"} {
		if err := prepare(conn, "DELETE FROM "+table+" WHERE n = ?").int(n).run(); err != nil {
			return err
		}
	}
	if err := prepare(conn, "DELETE FROM answer WHERE session = ?").text(id).run(); err != nil {
		return err
	}
	return prepare(conn, "INSERT INTO removed (n) VALUES (?)").int(n).run()
}

// collectRemoved deletes the remaining rows of removed sessions in small transactions, and gives
// their space back.
func (s *Store) collectRemoved(ctx context.Context) error {
	for more := true; more && ctx.Err() == nil; {
		err := s.write(func(conn *sqlite.Conn) (_ int, err error) {
			return batchOverhead, removeRows(conn, func() error {
				more, err = collectSome(conn)
				return err
			})
		})
		if err != nil {
			return fmt.Errorf("collect removed sessions: %w", err)
		}
	}
	return s.giveBack(ctx)
}

// collectSome deletes some rows and reports whether more may remain.
func collectSome(conn *sqlite.Conn) (bool, error) {
	var n int64
	err := prepare(conn, "SELECT n FROM removed LIMIT 1").each(func(q *statement) error {
		n = q.intAt(0)
		return nil
	})
	if n == 0 || err != nil {
		return false, err
	}
	for _, table := range []string{"chunk", "fold", "turn"} {
		err := prepare(conn, "DELETE FROM "+table+" WHERE key IN (SELECT key FROM "+table+
			" WHERE key BETWEEN ? AND ? LIMIT ?)").int(key(n, 0)).int(key(n, maxSeq)).int(collectRows).run()
		if err != nil || conn.Changes() > 0 {
			return true, err
		}
	}
	err = prepare(conn, "DELETE FROM blob WHERE rowid IN (SELECT rowid FROM blob WHERE n = ? LIMIT ?)").
		int(n).int(collectRows).run()
	if err != nil || conn.Changes() > 0 {
		return true, err
	}
	return true, prepare(conn, "DELETE FROM removed WHERE n = ?").int(n).run()
}

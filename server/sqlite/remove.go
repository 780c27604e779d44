package sqlite

import (
	"errors"

	"agentctl/server/session"

	"zombiezen.com/go/sqlite"
)

// removeSession removes a session and everything of it. One that is not there is as good as removed.
func removeSession(conn *sqlite.Conn, id string) error {
	n, err := sessionNumber(conn, id)
	if errors.Is(err, session.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, table := range []string{"chunk", "fold", "turn"} {
		err := prepare(conn, "DELETE FROM "+table+" WHERE key BETWEEN ? AND ?").int(key(n, 0)).int(key(n, maxSeq)).run()
		if err != nil {
			return err
		}
	}
	for _, table := range []string{"head", "snapshot", "decision", "blob", "process", "session"} {
		if err := prepare(conn, "DELETE FROM "+table+" WHERE n = ?").int(n).run(); err != nil {
			return err
		}
	}
	return prepare(conn, "DELETE FROM answer WHERE session = ?").text(id).run()
}

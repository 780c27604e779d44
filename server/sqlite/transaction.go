package sqlite

import (
	"errors"
	"fmt"

	"zombiezen.com/go/sqlite"
)

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

package sqlite

import (
	"context"
	"errors"

	"zombiezen.com/go/sqlite"
)

// readConns bounds how many reads run at once; the rest wait for their turn.
const readConns = 4

// connPool holds the read connections that are free. A read takes one for its whole run and puts it back with all its
// statements reset, so that no read transaction outlives it.
type connPool chan *sqlite.Conn

func (r connPool) get(ctx context.Context) (*sqlite.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case conn := <-r:
		return conn, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (r connPool) put(conn *sqlite.Conn) { r <- conn }

// read runs do in one read transaction, so that all it reads is one state of the database.
func (s *Store) read(ctx context.Context, do func(*sqlite.Conn) error) error {
	conn, err := s.readers.get(ctx)
	if err != nil {
		return err
	}
	defer s.readers.put(conn)
	if err := prepare(conn, "BEGIN").run(); err != nil {
		return err
	}
	err = do(conn)
	if !conn.AutocommitEnabled() { // after some errors SQLite has ended it already
		err = errors.Join(err, prepare(conn, "ROLLBACK").run())
	}
	return err
}

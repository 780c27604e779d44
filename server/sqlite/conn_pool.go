package sqlite

import (
	"context"
	"errors"

	"zombiezen.com/go/sqlite"
)

// readConns is the maximum number of concurrent reads. Others wait.
const readConns = 4

// A connPool holds the free read connections. A read uses one connection and returns it with all
// statements reset, so no read transaction outlives the read.
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

// read runs do in one read transaction, on one state of the database.
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
	if !conn.AutocommitEnabled() { // after some errors SQLite has already ended it
		err = errors.Join(err, prepare(conn, "ROLLBACK").run())
	}
	return err
}

// readSession is read with the number of a session.
func (s *Store) readSession(ctx context.Context, id string, do func(conn *sqlite.Conn, n int64) error) error {
	return s.read(ctx, func(conn *sqlite.Conn) error {
		n, err := sessionNumber(conn, id)
		if err != nil {
			return err
		}
		return do(conn, n)
	})
}

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"zombiezen.com/go/sqlite"

	"agentctl/server/eventlog"
	"agentctl/server/sqlite/dirlock"
)

// A readOnly is a read-only connection to a database file, in one read transaction. A server may
// have the file open and continue; the connection keeps the state that it found.
type readOnly struct {
	conn *sqlite.Conn
	lock *dirlock.Lock // nil: another process holds the directory, or the file is in no data directory
}

// openReadOnly opens a database file. It changes no file that a later Open checks: while no server
// holds the directory and the write-ahead log is missing, SQLite must not create one. With needLog,
// the error is a *LogMissingError if Open would return one.
func openReadOnly(ctx context.Context, path string, needLog bool) (_ *readOnly, err error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if info.IsDir() {
		return nil, fmt.Errorf("%s is a directory, want a database file", path)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	r := &readOnly{}
	defer func() {
		if err != nil {
			err = errors.Join(interrupted(ctx, err), r.Close())
		}
	}()
	dir := filepath.Dir(path)
	if _, err := os.Stat(filepath.Join(dir, dirlock.File)); err == nil && filepath.Base(path) == fileName {
		if r.lock, err = dirlock.New(dir); err != nil && !errors.Is(err, dirlock.ErrLocked) {
			return nil, err
		}
		if err == nil && needLog {
			if err := checkLog(dir); err != nil {
				return nil, err
			}
		}
	}
	uri := url.URL{Scheme: "file", Path: path}
	if _, err := os.Stat(path + "-wal"); errors.Is(err, fs.ErrNotExist) {
		uri.RawQuery = "immutable=1"
	}
	if r.conn, err = sqlite.OpenConn(uri.String(), sqlite.OpenReadOnly|sqlite.OpenURI); err != nil {
		return nil, classify(err)
	}
	r.conn.SetInterrupt(ctx.Done())
	if err := checkSchema(r.conn, path); err != nil {
		return nil, err
	}
	if err := prepare(r.conn, "BEGIN").run(); err != nil {
		return nil, err
	}
	return r, prepare(r.conn, "SELECT 1 FROM sqlite_schema").run() // the transaction begins with its first read
}

// checkSchema returns an error if a database is of a newer release, or has no sessions of agentctl.
func checkSchema(conn *sqlite.Conn, path string) error {
	version, err := schemaVersion(conn, path)
	if err != nil || version > 0 {
		return err
	}
	// A damaged version can be repaired.
	err = prepare(conn, "SELECT 1 FROM sqlite_schema WHERE name = 'session'").one(func(*statement) error { return nil })
	if errors.Is(err, eventlog.ErrNotFound) {
		return fmt.Errorf("%s is no database of agentctl: it is empty, or another program's", path)
	}
	return err
}

// interrupted returns the cause of the end of ctx instead of the error of SQLite that it caused.
func interrupted(ctx context.Context, err error) error {
	if sqlite.ErrCode(err).ToPrimary() == sqlite.ResultInterrupt && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// Close ends the transaction and closes the connection.
func (r *readOnly) Close() error {
	var errs []error
	if r.conn != nil {
		r.conn.SetInterrupt(nil)
		errs = append(errs, r.conn.Close())
	}
	if r.lock != nil {
		errs = append(errs, r.lock.Close())
	}
	return errors.Join(errs...)
}

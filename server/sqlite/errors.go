package sqlite

import (
	"errors"
	"fmt"

	"agentctl/server/eventlog"

	"zombiezen.com/go/sqlite"
)

// classify wraps corruption, a full disk and a read-only file that SQLite reports in the errors of
// package session.
func classify(err error) error {
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultCorrupt, sqlite.ResultNotADB:
		return fmt.Errorf("%w: %w", eventlog.ErrCorrupt, err)
	case sqlite.ResultFull:
		return fmt.Errorf("%w: %w", eventlog.ErrFull, err)
	case sqlite.ResultReadOnly:
		return fmt.Errorf("%w: %w", eventlog.ErrReadOnly, err)
	}
	return err
}

// wrap returns an error with a text before it; nil for nil.
func wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), err)
}

// missingIsCorrupt returns eventlog.ErrCorrupt in place of eventlog.ErrNotFound, for a row that every
// session has.
func missingIsCorrupt(err error) error {
	if errors.Is(err, eventlog.ErrNotFound) {
		return eventlog.ErrCorrupt
	}
	return err
}

// isFatal reports whether the store must stop after err. After a failed fsync the kernel may drop
// the pages and report success on the next fsync. On a damaged file every write can add damage. A
// removed file does not come back. All other errors, such as a full disk, are temporary.
func isFatal(err error) bool {
	switch code := sqlite.ErrCode(err); code.ToPrimary() {
	case sqlite.ResultCorrupt, sqlite.ResultNotADB:
		return true
	default:
		return code == sqlite.ResultIOErrFsync || code == sqlite.ResultIOErrDirFsync || errors.Is(err, errRemoved)
	}
}

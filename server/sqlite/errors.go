package sqlite

import (
	"fmt"

	"zombiezen.com/go/sqlite"

	"agentctl/server/session"
)

// classify makes damage that SQLite itself finds the store's ErrCorrupt.
func classify(err error) error {
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultCorrupt, sqlite.ResultNotADB:
		return fmt.Errorf("%w: %w", session.ErrCorrupt, err)
	}
	return err
}

// isFatal reports whether nothing may be written after err. After a failed fsync the kernel may have dropped the pages
// and calls the next fsync a success; on a damaged file every write can do more damage. Everything else, a full disk
// above all, passes.
func isFatal(err error) bool {
	switch code := sqlite.ErrCode(err); code {
	case sqlite.ResultIOErrFsync, sqlite.ResultIOErrDirFsync:
		return true
	default:
		p := code.ToPrimary()
		return p == sqlite.ResultCorrupt || p == sqlite.ResultNotADB
	}
}

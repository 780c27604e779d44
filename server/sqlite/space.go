package sqlite

import (
	"context"
	"errors"
	"fmt"

	"zombiezen.com/go/sqlite"
)

const (
	// autoVacuum lets a database give the space of removed rows back in small steps. It must be
	// set before the first table, or before a VACUUM.
	autoVacuum = "auto_vacuum = INCREMENTAL"

	// Removed rows are overwritten with zeros. secureDelete also overwrites the pages that they
	// leave; it is for the rows of removed sessions. fastDelete leaves those pages, for example of
	// replaced snapshots, until giveBack: to overwrite them in the commit of a large snapshot makes
	// it 50% slower.
	secureDelete = "secure_delete = ON"
	fastDelete   = "secure_delete = FAST"

	// vacuumLimit is the size in bytes up to which Open rewrites a database of a release that did
	// not set autoVacuum. A larger one reuses the space of removed rows; Repair rewrites it.
	vacuumLimit = 64 << 20

	// vacuumPages is the maximum number of pages that one transaction of giveBack moves. It bounds
	// how long a commit waits for that transaction.
	vacuumPages = 64
)

// enableAutoVacuum rewrites a small database that cannot give space back.
func (s *Store) enableAutoVacuum() error {
	mode, err := pragma(s.writer.conn, "auto_vacuum")
	if err != nil || mode != 0 {
		return err
	}
	size, err := pageBytes(s.writer.conn)
	if err != nil {
		return err
	}
	if size > vacuumLimit {
		s.log.Info("space of removed sessions is reused, not given back", "bytes", size)
		return nil
	}
	if err := prepare(s.writer.conn, "VACUUM").run(); isFatal(err) {
		return fmt.Errorf("rewrite database: %w", err)
	} else if err != nil { // a full disk; tried again at the next Open
		s.log.Warn("rewrite database", "err", err)
	}
	return nil
}

// Size returns the bytes of the database that hold rows. It implements upkeep.Sizer.
func (s *Store) Size(ctx context.Context) (size int64, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		if size, err = pageBytes(conn); err != nil {
			return err
		}
		free, err := pragma(conn, "freelist_count")
		if err != nil {
			return err
		}
		page, err := pragma(conn, "page_size")
		size -= int64(free) * int64(page)
		return err
	})
	return size, wrap(err, "size of the store")
}

// removeRows runs do, which deletes rows for good: they are overwritten with zeros.
func removeRows(conn *sqlite.Conn, do func() error) error {
	if err := setPragmas(conn, secureDelete); err != nil {
		return err
	}
	return errors.Join(do(), setPragmas(conn, fastDelete))
}

// giveBack gives the space of removed rows back to the file system, in small transactions. Commits
// continue between them.
func (s *Store) giveBack(ctx context.Context) error {
	for more := true; more && ctx.Err() == nil; {
		err := s.write(func(conn *sqlite.Conn) (int, error) {
			before, err := pragma(conn, "freelist_count")
			if err != nil || before == 0 {
				more = false
				return 0, err
			}
			if err := prepare(conn, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", vacuumPages)).run(); err != nil {
				return 0, err
			}
			after, err := pragma(conn, "freelist_count")
			more = after < before
			return vacuumPages * 4096, err
		})
		if err != nil {
			return fmt.Errorf("give space back: %w", err)
		}
	}
	return nil
}

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"

	"zombiezen.com/go/sqlite"

	"agentctl/internal/atomicfile"
)

// backupPages is the number of pages that are copied between two reports of progress: 4 MiB.
const backupPages = 1024

// A Progress is called while a long operation runs, with the bytes done and in total.
type Progress func(done, total int64)

// Backup copies the database of the data directory dir to a new file (0600), which appears complete
// or not at all. The copy is the state at one moment: all commits before it and none after. A
// server on the directory keeps running; its write-ahead log grows by what it commits. The memory
// used does not depend on the size. Backup refuses to replace a file.
func Backup(ctx context.Context, dir, file string, report Progress) error {
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("back up to %s: %w", file, os.ErrExist)
	}
	return copyDatabase(ctx, Path(dir), file, report)
}

// copyDatabase copies a database to a file that needs no write-ahead log.
func copyDatabase(ctx context.Context, from, to string, report Progress) error {
	src, err := openReadOnly(ctx, from, true)
	if err != nil {
		return fmt.Errorf("read %s: %w", from, err)
	}
	err = writeDatabase(to, func(dst *sqlite.Conn) error { return copyPages(ctx, dst, src.conn, report) })
	return errors.Join(err, src.Close())
}

// writeDatabase creates a database file (0600) beside its final place, calls fill, syncs the file
// and moves it into place, where it replaces any other.
func writeDatabase(path string, fill func(*sqlite.Conn) error) error {
	err := atomicfile.WriteFunc(path, 0o600, func(f *os.File) error {
		if err := fillDatabase(f.Name(), fill); err != nil {
			return errors.Join(err, removeFiles(f.Name()+"-journal"))
		}
		return nil
	})
	return wrap(err, "write %s", path)
}

// fillDatabase calls fill with a connection to an empty file. The file is worth nothing until it is
// complete, so SQLite keeps no journal of it.
func fillDatabase(path string, fill func(*sqlite.Conn) error) error {
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	err = setPragmas(conn, "journal_mode = OFF", "synchronous = OFF")
	if err == nil {
		err = fill(conn)
	}
	if err == nil { // pages of a database with a write-ahead log say so
		err = setPragmas(conn, "journal_mode = DELETE")
	}
	return errors.Join(err, conn.Close())
}

// copyPages copies all pages of the database that src reads in its transaction.
func copyPages(ctx context.Context, dst, src *sqlite.Conn, report Progress) error {
	size, err := pragma(src, "page_size")
	if err != nil {
		return err
	}
	b, err := sqlite.NewBackup(dst, "", src, "")
	if err != nil {
		return err
	}
	for more := true; more && err == nil; {
		if more, err = b.Step(backupPages); err == nil {
			err = ctx.Err()
			total := int64(b.PageCount()) * int64(size)
			report(total-int64(b.Remaining())*int64(size), total)
		}
	}
	return errors.Join(interrupted(ctx, classify(err)), b.Close())
}

func removeFiles(paths ...string) error {
	var errs []error
	for _, path := range paths {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

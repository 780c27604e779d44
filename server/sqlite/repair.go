package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"zombiezen.com/go/sqlite"

	"agentctl/internal/atomicfile"
	"agentctl/server/eventlog"
	"agentctl/server/sqlite/dirlock"
)

// RepairOptions configures Repair.
type RepairOptions struct {
	// Lost returns the lines that stand for the lost events first to last of a session, one per
	// seq.
	Lost func(session string, first, last uint64) []byte
	// Record returns a new record for a session that has lost its own, made from its first readable
	// event. ok is false if the event does not suffice; then the session is lost.
	Record func(event []byte) (r eventlog.Record, ok bool)
	Damage func(Damage) error // called for each damage
	Report Progress

	// WithoutLog repairs a database whose write-ahead log is missing after an unclean stop. Kept is
	// then called for each session that is kept, with the last position that is there, in the epoch
	// that clients know; "" if that is lost.
	WithoutLog bool
	Kept       func(session, epoch string, last uint64) error
}

// Repair writes everything that can be read of the database of a data directory to a new one, which
// takes its place. The damaged database is kept: Repair returns its new path. Lost events are
// replaced, so that no log has a gap, and every session gets a new epoch. The error wraps dirlock.ErrLocked
// while a server holds the directory, and is a *LogMissingError if the log is missing and
// o.WithoutLog is not set.
func Repair(ctx context.Context, dir string, o RepairOptions) (r Report, kept string, err error) {
	path := Path(dir)
	if _, err := os.Stat(path); err != nil {
		return r, "", fmt.Errorf("repair: %w", err)
	}
	held, err := dirlock.New(dir)
	if err != nil {
		return r, "", fmt.Errorf("repair: %w", err)
	}
	if !o.WithoutLog {
		err = checkLog(dir)
	}
	if err == nil {
		r, kept, err = repair(ctx, path, o)
	}
	return r, kept, wrap(errors.Join(err, held.Close()), "repair %s", path)
}

func repair(ctx context.Context, path string, o RepairOptions) (r Report, kept string, err error) {
	src, err := openReadOnly(ctx, path, false)
	if err != nil {
		return r, "", err
	}
	err = replaceDatabase(path, "damaged", &kept, func(temp string) error {
		return writeDatabase(temp, func(dst *sqlite.Conn) error {
			i := &inspection{ctx: ctx, conn: src.conn, damage: o.Damage, progress: o.Report}
			i.rebuild = &rebuild{
				conn: dst, options: o, ids: map[int64]string{}, epochs: map[int64]string{}, ends: map[int64]*logEnd{},
			}
			err := setPragmas(dst, autoVacuum)
			if err == nil {
				err = migrate(dst, path)
			}
			if err == nil {
				err = transact(dst, i.run)
			}
			if err == nil && o.WithoutLog {
				err = i.rebuild.reportKept()
			}
			r = i.report
			return err
		})
	}, src.Close)
	return r, kept, err
}

// replaceDatabase writes a database beside path and moves it into place. The old one is moved aside
// with its write-ahead log, to a name made of word and the time, which is stored in *kept. before
// is called before files move. The caller holds the directory's lock.
//
// The old database moves before its log: without the database Open refuses the directory, whereas
// it would open a database whose log was moved. A log without a database moves too: SQLite would
// take it for the log of the new one.
func replaceDatabase(path, word string, kept *string, write func(temp string) error, before func() error) error {
	temp := path + ".new"
	if err := errors.Join(write(temp), before()); err != nil {
		return errors.Join(err, removeFiles(temp))
	}
	aside := fmt.Sprintf("%s.%s-%s", path, word, time.Now().UTC().Format("20060102T150405.000"))
	err := os.Rename(path, aside)
	switch {
	case err == nil:
		*kept = aside
	case !errors.Is(err, fs.ErrNotExist):
		return errors.Join(err, removeFiles(temp))
	}
	if err := os.Rename(path+"-wal", aside+"-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		if *kept != "" {
			err = errors.Join(err, os.Rename(aside, path))
			*kept = ""
		}
		return errors.Join(err, removeFiles(temp))
	}
	dir := filepath.Dir(path)
	if err := errors.Join(removeFiles(path+"-shm"), markClosed(dir)); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return atomicfile.SyncDir(dir)
}

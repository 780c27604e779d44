package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"

	"agentctl/server/sqlite/dirlock"
)

// ErrInUse is wrapped by the error of Restore when the data directory has a database.
var ErrInUse = errors.New("the data directory has a database")

// A DamagedError reports a backup that is damaged.
type DamagedError struct {
	File   string
	Damage Damage // the first one
}

func (e *DamagedError) Error() string { return fmt.Sprintf("%s is damaged: %s", e.File, e.Damage) }

// Restore makes a copy of a backup the database of a data directory, after it has verified all of
// it. With replace, a database that is there is kept under another name, which Restore returns. The
// next Open gives every session a new epoch. The error wraps dirlock.ErrLocked while a server holds the
// directory.
func Restore(ctx context.Context, file, dir string, replace bool, report Progress) (kept string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("restore: %w", err)
		}
	}()
	held, err := dirlock.New(dir)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, held.Close()) }()
	path := Path(dir)
	if info, err := os.Stat(path); err == nil && info.Size() > 0 && !replace {
		return "", fmt.Errorf("%w: %s", ErrInUse, path)
	}
	if _, err := Check(ctx, file, CheckOptions{
		Damage: func(d Damage) error { return &DamagedError{file, d} },
	}); err != nil {
		return "", err
	}
	err = replaceDatabase(path, "replaced", &kept, func(temp string) error {
		return copyDatabase(ctx, file, temp, report)
	}, func() error { return nil })
	return kept, err
}

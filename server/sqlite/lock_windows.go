package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockFile reports whether somebody else holds the lock. The locked byte lies far behind the process id, because a
// locked range cannot be read.
func lockFile(file *os.File) (held bool, err error) {
	at := &windows.Overlapped{Offset: 1 << 30}
	err = windows.LockFileEx(windows.Handle(file.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return true, nil
	}
	return false, err
}

// processGone reports whether there is no process of that id. A lock here is never anybody else's than its holder's.
func processGone(string) bool { return false }

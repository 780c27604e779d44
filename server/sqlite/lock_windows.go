package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockFile locks the file. held reports whether another process holds the lock. The locked byte is
// far behind the process id: a locked range cannot be read.
func lockFile(file *os.File) (held bool, err error) {
	at := &windows.Overlapped{Offset: 1 << 30}
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err = windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return true, nil
	}
	return false, err
}

// processGone reports whether no process has the id. It returns false: on Windows a lock never
// outlives its holder.
func processGone(string) bool { return false }

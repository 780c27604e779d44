package dirlock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock locks a file for this process. The id of another holder is not known: it is 0.
func tryLock(file *os.File) (locked bool, holderPID int, err error) {
	err = windows.LockFileEx(windows.Handle(file.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, 0, nil
	}
	return err == nil, 0, err
}

// holder returns 0: Windows does not name the holder of a lock.
func holder(*os.File) int { return 0 }

//go:build unix

package dirlock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks a file for this process. If another process has the lock, it returns that process's
// id, or 0 if the process is not visible from here. Unlike flock, the lock is not inherited by
// child processes.
func tryLock(file *os.File) (locked bool, holderPID int, err error) {
	err = fcntl(file, unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return false, holder(file), nil
	}
	return err == nil, 0, err
}

// holder returns the id of the other process that has the lock, or 0.
func holder(file *os.File) int {
	lock := unix.Flock_t{Type: unix.F_WRLCK}
	if err := fcntl(file, unix.F_GETLK, &lock); err != nil || lock.Type == unix.F_UNLCK {
		return 0
	}
	return int(lock.Pid)
}

func fcntl(file *os.File, cmd int, lock *unix.Flock_t) error {
	for {
		if err := unix.FcntlFlock(file.Fd(), cmd, lock); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

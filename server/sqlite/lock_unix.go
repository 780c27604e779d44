//go:build unix

package sqlite

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// lockFile locks the file. held reports whether another process holds the lock.
func lockFile(file *os.File) (held bool, err error) {
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

// processGone reports whether no process has the id.
func processGone(pid string) bool {
	n, err := strconv.Atoi(pid)
	return err == nil && n > 0 && errors.Is(unix.Kill(n, 0), unix.ESRCH)
}

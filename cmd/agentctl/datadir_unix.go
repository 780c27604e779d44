//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// lock takes the directory for this process until it ends or the file is closed. errLocked: another server has it. The system
// drops the lock when this process closes any handle of that file: nothing else here may open it.
func (d dataDir) lock() (io.Closer, error) {
	f, err := os.OpenFile(d.path("serving"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the data directory: %w", err)
	}
	whole := syscall.Flock_t{Type: syscall.F_WRLCK}
	if err := fcntl(f, syscall.F_SETLK, &whole); err != nil {
		f.Close()
		if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) {
			return nil, errLocked
		}
		return nil, fmt.Errorf("lock the data directory: %w", err)
	}
	return f, nil
}

// owner returns the pid of the server that holds the directory, or 0. It is for other processes than that server.
func (d dataDir) owner() int {
	f, err := os.Open(d.path("serving"))
	if err != nil {
		return 0
	}
	defer f.Close()
	whole := syscall.Flock_t{Type: syscall.F_WRLCK}
	if err := fcntl(f, syscall.F_GETLK, &whole); err != nil || whole.Type == syscall.F_UNLCK {
		return 0
	}
	return int(whole.Pid)
}

func fcntl(f *os.File, cmd int, lock *syscall.Flock_t) error {
	for {
		if err := syscall.FcntlFlock(f.Fd(), cmd, lock); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

func ownedByUser(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}

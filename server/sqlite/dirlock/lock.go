package dirlock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// ErrLocked is wrapped by the error of New when the data directory is in use; the text names the
// process.
var ErrLocked = errors.New("data directory is in use")

// File is the file in a data directory that is locked while its store is open. Earlier releases lock
// it too.
const File = "serving"

// A Lock is a held data directory.
//
// The operating system releases the lock when the process ends, so a lock is never stale. On Unix
// it also releases the lock when the process closes any other handle of the file: outside this
// package, do not open it in the process that holds the lock.
type Lock struct {
	file *os.File
	info os.FileInfo
}

// locks holds the locks of this process. Unix locks exclude other processes only.
var locks struct {
	mu   sync.Mutex
	held []*Lock
}

// New creates dir (0700) if necessary and locks it. It fails with ErrLocked if any process holds
// it, this one included. The lock file is never removed: otherwise two processes could lock two
// files of the same name.
func New(dir string) (*Lock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create data directory: %w", err)
	}
	path := filepath.Join(dir, File)
	locks.mu.Lock()
	defer locks.mu.Unlock()
	if heldHere(path) {
		return nil, lockedBy(dir, os.Getpid())
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	l := &Lock{file: file}
	locked, holder, err := tryLock(file)
	if err == nil && locked {
		l.info, err = file.Stat()
	}
	switch {
	case err != nil:
		return nil, errors.Join(fmt.Errorf("lock %s: %w", dir, err), file.Close())
	case !locked:
		return nil, errors.Join(lockedBy(dir, holder), file.Close())
	}
	locks.held = append(locks.held, l)
	return l, nil
}

// Close releases the directory.
func (l *Lock) Close() error {
	locks.mu.Lock()
	defer locks.mu.Unlock()
	locks.held = slices.DeleteFunc(locks.held, func(other *Lock) bool { return other == l })
	return l.file.Close()
}

// Holder returns the id of the process that has a store open in dir, or 0 if no process has. On
// Windows it returns 0 for other processes.
func Holder(dir string) int {
	path := filepath.Join(dir, File)
	locks.mu.Lock()
	defer locks.mu.Unlock()
	if heldHere(path) {
		return os.Getpid()
	}
	file, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer file.Close()
	return holder(file)
}

// heldHere reports whether this process holds the lock file at path. The caller holds locks.mu.
func heldHere(path string) bool {
	info, err := os.Stat(path)
	return err == nil && slices.ContainsFunc(locks.held, func(l *Lock) bool { return os.SameFile(l.info, info) })
}

func lockedBy(dir string, pid int) error {
	if pid == 0 {
		return fmt.Errorf("%w: %s by another process", ErrLocked, dir)
	}
	return fmt.Errorf("%w: %s by process %d", ErrLocked, dir, pid)
}

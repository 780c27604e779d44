package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ErrLocked is wrapped in the error of Open when another process holds the data directory. The
// message names the process.
var ErrLocked = errors.New("data directory is in use")

// orphanTime is the time to wait for a lock whose holder was killed.
const orphanTime = 2 * time.Second

// lock locks a data directory until the returned file is closed. It creates a missing directory
// with mode 0700. The lock file is not removed: two processes could otherwise lock two files of the
// same name. The kernel releases the lock when the process dies. Only a child that the process was
// forking when it was killed keeps the lock, until it executes another program; lock waits for that
// case alone.
func lock(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create data directory: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	held, err := lockFile(file)
	deadline := time.Now().Add(orphanTime)
	for held && err == nil && processGone(holderPID(file)) && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
		held, err = lockFile(file)
	}
	switch {
	case err != nil:
		err = fmt.Errorf("lock %s: %w", dir, err)
	case held:
		err = fmt.Errorf("%w: %s is locked by process %s", ErrLocked, dir, holderPID(file))
	default:
		err = writePID(file)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// writePID writes the id of this process for the error message of the next opener.
func writePID(file *os.File) error {
	if err := file.Truncate(0); err != nil {
		return fmt.Errorf("write lock holder: %w", err)
	}
	if _, err := file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0); err != nil {
		return fmt.Errorf("write lock holder: %w", err)
	}
	return nil
}

func holderPID(file *os.File) string {
	b, err := io.ReadAll(io.NewSectionReader(file, 0, 32))
	if pid := strings.TrimSpace(string(b)); err == nil && pid != "" {
		return pid
	}
	return "unknown"
}

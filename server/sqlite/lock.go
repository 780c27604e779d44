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

// ErrLocked is what Open wraps when another holder has the data directory; the text names its process.
var ErrLocked = errors.New("data directory is in use")

// orphanTime bounds how long a lock outlives its killed holder.
const orphanTime = 2 * time.Second

// lock takes a data directory, which it creates (0700) when missing, until the file is closed. The file stays: removing it would let
// two openers lock two files of one name. The kernel drops the lock with the process, so it is never stale; but a child that the
// process was just forking when it was killed holds it until it has become another program: for that alone it waits.
func lock(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create data directory: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	held, err := lockFile(file)
	for until := time.Now().Add(orphanTime); held && err == nil && processGone(holderPID(file)) && time.Now().Before(until); {
		time.Sleep(time.Millisecond)
		held, err = lockFile(file)
	}
	switch {
	case err != nil:
		err = fmt.Errorf("lock %s: %w", dir, err)
	case held:
		err = fmt.Errorf("%w: %s by process %s", ErrLocked, dir, holderPID(file))
	default:
		err = writePID(file)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// writePID writes this process's id for the next opener's message.
func writePID(file *os.File) error {
	if err := file.Truncate(0); err != nil {
		return fmt.Errorf("sign lock: %w", err)
	}
	if _, err := file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0); err != nil {
		return fmt.Errorf("sign lock: %w", err)
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

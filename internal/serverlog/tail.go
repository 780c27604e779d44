package serverlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// pollInterval is the time between two looks at a file that is followed.
const pollInterval = 200 * time.Millisecond

// A Tail reads the end of a log, and then its new lines.
type Tail struct {
	path   string
	file   *os.File
	offset int64
	rest   []byte // of a line whose end is not written yet
}

// OpenTail opens a log for reading. The error wraps fs.ErrNotExist if the log does not exist.
func OpenTail(path string) (*Tail, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	return &Tail{path: path, file: f}, nil
}

// Last returns the last n lines that the log has now; a negative n means all. Lines of the older
// file come first.
func (t *Tail) Last(n int) ([][]byte, error) {
	now, err := t.read()
	if err != nil {
		return nil, err
	}
	lines := now
	if n < 0 || len(now) < n {
		old, err := os.ReadFile(OldPath(t.path))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read older log: %w", err)
		}
		lines = append(split(old), now...)
	}
	if n >= 0 && len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return lines, nil
}

// Follow calls f with each line that is added, until ctx ends or f fails. It continues with a file
// that was emptied, and with a new one at the path.
func (t *Tail) Follow(ctx context.Context, f func(line []byte) error) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		lines, err := t.read()
		if err != nil {
			return err
		}
		for _, line := range lines {
			if err := f(line); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
		if err := t.reopen(); err != nil {
			return err
		}
	}
}

// reopen opens the file at the path if it has been replaced.
func (t *Tail) reopen() error {
	now, err := os.Stat(t.path)
	if err != nil {
		return nil //nolint:nilerr // moved: the writer makes a new one
	}
	if was, err := t.file.Stat(); err == nil && os.SameFile(was, now) {
		return nil
	}
	f, err := os.Open(t.path)
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	_ = t.file.Close()
	t.file, t.offset, t.rest = f, 0, nil
	return nil
}

// read returns the complete lines that were added.
func (t *Tail) read() ([][]byte, error) {
	if info, err := t.file.Stat(); err == nil && info.Size() < t.offset {
		t.offset, t.rest = 0, nil // it was emptied
	}
	added, err := io.ReadAll(io.NewSectionReader(t.file, t.offset, 1<<40))
	if err != nil {
		return nil, fmt.Errorf("read log: %w", err)
	}
	t.offset += int64(len(added))
	text := append(t.rest, added...)
	end := bytes.LastIndexByte(text, '\n') + 1
	t.rest = bytes.Clone(text[end:])
	return split(text[:end]), nil
}

// split returns the lines of a text without their ends.
func split(text []byte) (lines [][]byte) {
	for line := range bytes.Lines(text) {
		lines = append(lines, bytes.TrimRight(line, "\r\n"))
	}
	return lines
}

// Close closes the file.
func (t *Tail) Close() error { return t.file.Close() }

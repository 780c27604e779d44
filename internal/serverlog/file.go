package serverlog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"agentctl/internal/atomicfile"
)

// MaxBytes bounds a log file. One older file of that size is kept.
const MaxBytes = 1 << 20

// OldPath returns the path of the older file of a log.
func OldPath(path string) string { return path + ".old" }

// A File is a log file of bounded size. When it is full, its content is copied to OldPath and the
// file is emptied: other descriptors, such as standard error, keep writing to it. Its methods may
// be called from any goroutine.
type File struct {
	path string // constant
	max  int64  // constant

	former int64 // size when it was opened, as the previous process left it; constant

	mu   sync.Mutex
	file *os.File
}

// Open opens or creates a log file, which only this user can read.
func Open(path string, maxBytes int64) (*File, error) {
	f := &File{path: path, max: maxBytes}
	if err := f.Reopen(); err != nil {
		return nil, err
	}
	info, err := f.file.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open log: %w", err), f.Close())
	}
	f.former = info.Size()
	return f, nil
}

// Path returns the path of the file.
func (f *File) Path() string { return f.path }

// Reopen opens the file again, after another program has moved it. After an error the old file
// stays open.
func (f *File) Reopen() error {
	file, err := os.OpenFile(f.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file != nil {
		_ = f.file.Close()
	}
	f.file = file
	return nil
}

// Write appends a record.
func (f *File) Write(record []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if info, err := f.file.Stat(); err == nil && info.Size() > 0 && info.Size()+int64(len(record)) > f.max {
		if err := f.rotate(); err != nil {
			// The bound holds even if the copy failed.
			if err := f.file.Truncate(0); err != nil {
				return 0, fmt.Errorf("empty log: %w", err)
			}
		}
	}
	return f.file.Write(record)
}

// rotate moves the content to the older file.
func (f *File) rotate() error {
	if _, err := f.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	err := atomicfile.WriteFunc(OldPath(f.path), 0o600, func(old *os.File) error {
		_, err := io.Copy(old, io.LimitReader(f.file, 2*f.max)) // standard error may have written more than the bound
		return err
	})
	if err != nil {
		return err
	}
	return f.file.Truncate(0)
}

// Close closes the file.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.file.Close()
}

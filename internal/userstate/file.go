package userstate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"agentctl/internal/atomicfile"
)

// ErrTooLarge is the error of a file or a value that exceeds the bound of the file.
var ErrTooLarge = errors.New("too large")

// A File is a JSON file that only the user can read.
type File struct {
	dir      Dir
	name     string
	maxBytes int
}

// Path returns the path at which the file is saved, "" without a directory.
func (f File) Path() string {
	if f.dir.path == "" {
		return ""
	}
	return filepath.Join(f.dir.path, f.name)
}

// paths returns where the file may be: the path at which it is saved, then the paths of earlier
// versions.
func (f File) paths() []string {
	if f.dir.path == "" {
		return nil
	}
	paths := []string{f.Path()}
	for _, former := range f.dir.former {
		paths = append(paths, filepath.Join(former, f.name))
	}
	return paths
}

// Load decodes the file into v. A file that an earlier version saved elsewhere is used if no newer
// one exists. The error is fs.ErrNotExist without a file, ErrTooLarge if it exceeds its bound.
// After an error v may be partly changed.
func (f File) Load(v any) error {
	for _, path := range f.paths() {
		err := load(path, f.maxBytes, v)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("read %s: %w", path, err)
		}
	}
	return fs.ErrNotExist
}

func load(path string, maxBytes int, v any) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("not a regular file")
	case info.Size() > int64(maxBytes):
		return ErrTooLarge
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%w; remove the file to start without what it held", err)
	}
	return nil
}

// Save replaces the file atomically, and creates its directory if necessary. The error is
// ErrTooLarge if the value exceeds the bound: the old file stays.
func (f File) Save(v any) error {
	if f.dir.path == "" {
		return nil
	}
	b, err := json.Marshal(v)
	switch {
	case err != nil:
		return err
	case len(b) > f.maxBytes:
		return ErrTooLarge
	}
	if err := os.MkdirAll(f.dir.path, 0o700); err != nil {
		return err
	}
	return atomicfile.Write(f.Path(), b, 0o600)
}

// Remove removes the file and the files of earlier versions. A missing file is not an error.
func (f File) Remove() error {
	var errs []error
	for _, path := range f.paths() {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

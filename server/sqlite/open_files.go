package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// errRemoved is wrapped by the error of a commit after a file of the open store was removed, moved
// or replaced. Such a file takes writes, and the next Open does not find them.
var errRemoved = errors.New("the file was removed or replaced while in use")

// An openFile is a file of an open store, as it was at Open.
type openFile struct {
	path string
	info fs.FileInfo
}

// openFiles returns the database at path and its write-ahead log. Both exist, and stay the same
// files until Close.
func openFiles(path string) ([]openFile, error) {
	var files []openFile
	for _, p := range []string{path, path + "-wal"} {
		info, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		files = append(files, openFile{p, info})
	}
	return files, nil
}

// checkFiles returns an error that wraps errRemoved if a file of the store is not at its path. Any
// other error of the file system is none: the file may be there.
func (w *writer) checkFiles() error {
	for _, f := range w.files {
		info, err := os.Stat(f.path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(f.info, info) {
			return fmt.Errorf("%s: %w", f.path, errRemoved)
		}
	}
	return nil
}

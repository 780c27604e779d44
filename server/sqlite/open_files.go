package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// filesInterval is the least time between two looks at the files: a look costs a tenth of a commit.
const filesInterval = 100 * time.Millisecond

// errRemoved is wrapped by the error of a commit after a file of the open store was removed, moved
// or replaced, at the latest filesInterval later. Such a file takes writes, and the next Open does
// not find them.
var errRemoved = errors.New("the file was removed or replaced while in use")

// openFiles are the files of an open store that must stay where they are: the database and its
// write-ahead log. They stay the same files until Close.
type openFiles struct {
	list   []openFile
	looked time.Time
}

// An openFile is a file of an open store, as it was at Open.
type openFile struct {
	path string
	info fs.FileInfo
}

// findOpenFiles returns the files of the database at path.
func findOpenFiles(path string) (openFiles, error) {
	files := openFiles{looked: time.Now()}
	for _, p := range []string{path, path + "-wal"} {
		info, err := os.Stat(p)
		if err != nil {
			return openFiles{}, err
		}
		files.list = append(files.list, openFile{p, info})
	}
	return files, nil
}

// checkSometimes is check, or nil if the last one was less than filesInterval ago.
func (f *openFiles) checkSometimes() error {
	now := time.Now()
	if now.Sub(f.looked) < filesInterval {
		return nil
	}
	f.looked = now
	return f.check()
}

// check returns an error that wraps errRemoved if a file is not at its path. It ignores any other
// error of the file system: the file may be there.
func (f *openFiles) check() error {
	for i := range f.list {
		if err := f.list[i].check(); err != nil {
			return err
		}
	}
	return nil
}

func (f *openFile) check() error {
	info, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(f.info, info) {
		return fmt.Errorf("%s: %w", f.path, errRemoved)
	}
	return nil
}

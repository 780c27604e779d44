package wirelog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// openFile creates a file or opens one of this user for appending, and returns its size.
func openFile(path string) (*os.File, int64, error) {
	before, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
		return file, 0, err
	}
	if err != nil {
		return nil, 0, err
	}
	if err := check(before); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", path, err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, 0, err
	}
	after, err := file.Stat()
	switch {
	case err != nil:
	case !os.SameFile(before, after):
		err = fmt.Errorf("%s: the file was replaced", path)
	default:
		err = file.Chmod(0o600)
	}
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, after.Size(), nil
}

// check returns an error for a file that frames must not be appended to.
func check(info fs.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return errors.New("not a regular file")
	case !isOwn(info):
		return errors.New("the file of another user")
	case info.Size() >= MaxSize-maxNote:
		return ErrFull
	}
	return nil
}

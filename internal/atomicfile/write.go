package atomicfile

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Write replaces the file at path, or creates it, with a mode that the umask does not change. The
// file and its directory are synced: when Write returns nil, the content survives a power cut.
// After an error the old file is unchanged, unless only the sync of the directory failed. A link is
// replaced, not followed. With concurrent writers the last one wins.
func Write(path string, data []byte, mode fs.FileMode) error {
	return WriteFunc(path, mode, func(f *os.File) error {
		_, err := f.Write(data)
		return err
	})
}

// WriteFunc is Write with the content that fill writes to an empty file. fill may use the name of
// the file, must not close the file, and removes other files that it creates.
func WriteFunc(path string, mode fs.FileMode, fill func(*os.File) error) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, ".agentctl-*") // 0600; path may have the longest name possible
	if err != nil {
		return err
	}
	err = fill(f)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return SyncDir(dir)
}

// Create is Write for a file that must not exist: with concurrent writers the first one wins. For
// the others the error is fs.ErrExist, and the file is complete. On a file system without links the
// last one wins.
func Create(path string, data []byte, mode fs.FileMode) error {
	draft := path + ".new-" + rand.Text()
	if err := Write(draft, data, mode); err != nil {
		return err
	}
	err := os.Link(draft, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return errors.Join(err, os.Remove(draft), SyncDir(filepath.Dir(path)))
	}
	if err := os.Rename(draft, path); err != nil {
		return errors.Join(err, os.Remove(draft))
	}
	return SyncDir(filepath.Dir(path))
}

// MkdirAll is os.MkdirAll. The directories that it creates survive a power cut.
func MkdirAll(path string, mode fs.FileMode) error {
	path = filepath.Clean(path)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(path)
	if parent != path {
		if err := MkdirAll(parent, mode); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, mode); err != nil {
		if info, statErr := os.Stat(path); statErr == nil && info.IsDir() { // another process made it
			return nil
		}
		return err
	}
	return SyncDir(parent)
}

// SyncDir makes the creations and renames of files in a directory survive a power cut. It returns
// nil on systems that cannot sync a directory.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync() // not every system syncs directories
	return d.Close()
}

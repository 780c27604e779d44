package tool

import (
	"errors"
	"io/fs"
	"os"
)

// A step is the change of one file.
type step struct {
	*change
	root    *os.Root
	staged  string // the new file until it is in place; empty: no such file
	backup  string // a second name of the old file; empty: no such file
	changed bool
}

// fileOperations carries out the operations of a step and records in the step what it did.
type fileOperations interface {
	// write writes the new file to staged, a name in the same directory. If it fails, a part of the
	// file may exist.
	write(st *step, staged string) error

	// link gives the old file a second name, or copies it.
	link(st *step, backup string) error

	// commit moves the staged file into place, or removes the file.
	commit(st *step) error

	// restore puts the old file back by its second name, or removes a file that was not there.
	restore(st *step) error
}

// osFiles are the operations on files of the system.
type osFiles struct{}

func (osFiles) write(st *step, staged string) error {
	st.staged = staged
	return writeFileIn(st.root, staged, st.new.bytes, st.new.mode)
}

func (osFiles) link(st *step, backup string) error {
	if err := st.root.Link(st.place.name, backup); err != nil { // not every file system has links
		if err := writeFileIn(st.root, backup, st.old.bytes, st.old.mode); err != nil {
			return err
		}
	}
	st.backup = backup
	return nil
}

func (osFiles) commit(st *step) error {
	name := st.place.name
	if !st.new.exists {
		if err := st.root.Remove(name); err != nil {
			return err
		}
		st.changed = true
		return nil
	}
	if !st.old.exists { // replaces nothing that appeared since the check
		if err := st.root.Link(st.staged, name); err == nil {
			st.changed = true
			return nil
		} else if errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if err := st.root.Rename(st.staged, name); err != nil {
		return err
	}
	st.staged, st.changed = "", true
	return nil
}

func (osFiles) restore(st *step) error {
	if !st.old.exists {
		return st.root.Remove(st.place.name)
	}
	if err := st.root.Rename(st.backup, st.place.name); err != nil {
		return err
	}
	st.backup = ""
	return nil
}

// writeFileIn creates a file with a mode; mode 0 means the default by the umask.
func writeFileIn(root *os.Root, name string, b []byte, mode fs.FileMode) error {
	created := fs.FileMode(0o600)
	if mode == 0 {
		created = 0o666
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, created)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil && mode != 0 {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync() // before it replaces the old file
	}
	return errors.Join(err, f.Close())
}

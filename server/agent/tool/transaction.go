package tool

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A transaction applies a change set. No file is changed until every new file is written next to
// its place. Then files are replaced by renaming, and all are restored if one fails.
type transaction struct {
	files fileOperations
	steps []step
	made  []madeDirectory
	token string // in the names of temporary files
}

// A madeDirectory is a directory that a transaction created.
type madeDirectory struct {
	root *os.Root
	name string
}

// apply applies a set, or changes nothing and returns why. The names of temporary files have the
// token.
func (s changeSet) apply(token string, files fileOperations) (err error) {
	t := &transaction{token: token, files: files}
	defer func() { err = errors.Join(err, t.end(err != nil)) }()
	if err := s.check(); err != nil {
		return err
	}
	for i := range s {
		if err := t.stage(&s[i]); err != nil {
			return fmt.Errorf("write %s: %w; nothing was changed", s[i].place.shown, reason(err))
		}
	}
	if err := s.check(); err != nil {
		return err
	}
	for i := range t.steps {
		if err := t.files.commit(&t.steps[i]); err != nil {
			return fmt.Errorf("change %s: %w; nothing was changed", t.steps[i].place.shown, reason(err))
		}
	}
	return nil
}

// stage writes the new file next to its place, and gives the old one a second name.
func (t *transaction) stage(c *change) error {
	root, err := c.place.open()
	if err != nil {
		return err
	}
	t.steps = append(t.steps, step{change: c, root: root})
	st := &t.steps[len(t.steps)-1]
	if c.new.exists {
		if err := t.mkdir(root, filepath.Dir(c.place.name)); err != nil {
			return err
		}
		if err := t.files.write(st, t.beside(c.place.name)); err != nil {
			return err
		}
	}
	if !c.old.exists {
		return nil
	}
	return t.files.link(st, t.beside(c.place.name))
}

// temporaryPrefix begins the names of temporary files; the token of their transaction follows.
const temporaryPrefix = ".agentctl-"

// beside returns a new name in the directory of a file.
func (t *transaction) beside(name string) string {
	return filepath.Join(filepath.Dir(name), temporaryPrefix+t.token+strings.ToLower(rand.Text()[:8]))
}

// mkdir creates a directory with its parents.
func (t *transaction) mkdir(root *os.Root, dir string) error {
	if _, err := root.Stat(dir); err == nil {
		return nil
	}
	if err := t.mkdir(root, filepath.Dir(dir)); err != nil {
		return err
	}
	if err := root.Mkdir(dir, 0o755); err != nil {
		return err
	}
	t.made = append(t.made, madeDirectory{root, dir})
	return nil
}

// end restores the files if the transaction failed, and removes temporary files.
func (t *transaction) end(failed bool) error {
	var lost []string
	for i := len(t.steps) - 1; i >= 0; i-- {
		st := &t.steps[i]
		if failed && st.changed {
			if err := t.restore(st); err != nil {
				lost = append(lost, fmt.Sprintf("%s (%v)", st.place.shown, reason(err)))
			}
		}
		for _, name := range []string{st.staged, st.backup} {
			if name != "" {
				_ = st.root.Remove(name)
			}
		}
	}
	for i := len(t.made) - 1; failed && i >= 0; i-- {
		_ = t.made[i].root.Remove(t.made[i].name) // only an empty one
	}
	for i := range t.steps {
		_ = t.steps[i].root.Close()
	}
	if lost != nil {
		return fmt.Errorf("%w: %s", errRestore, strings.Join(lost, ", "))
	}
	return nil
}

// restore puts the old file back. If the directory refuses it, it writes the file in place.
func (t *transaction) restore(st *step) error {
	err := t.files.restore(st)
	if err == nil || !st.old.exists {
		return err
	}
	f, failed := st.root.OpenFile(st.place.name, os.O_WRONLY, 0)
	if failed != nil {
		return err
	}
	// The backup may be the only copy until the file is complete: it is removed after.
	_, failed = f.Write(st.old.bytes)
	if failed = errors.Join(failed, f.Truncate(int64(len(st.old.bytes))), f.Close()); failed != nil {
		st.backup = "" // keep it
	}
	return failed
}

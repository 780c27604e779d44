package attach

import (
	"errors"
	"fmt"
	"io/fs"

	"agentctl/internal/userstate"
	"agentctl/tui/sessionlist"
)

const maxReadState = 1 << 20 // bytes of the file

// A readState is the file in the user's state directory that records which turns the user has read.
type readState struct{ file userstate.File }

// newReadState returns the file of this user, or nil if the system has no place for it.
func newReadState(env func(string) string) *readState {
	dir := userstate.Find(env)
	if dir.Path() == "" {
		return nil
	}
	return &readState{dir.File("read.json", maxReadState)}
}

// Load returns what the file records. A missing file records nothing.
func (r *readState) Load() (sessionlist.Read, error) {
	var read sessionlist.Read
	switch err := r.file.Load(&read); {
	case errors.Is(err, fs.ErrNotExist):
		return sessionlist.Read{}, nil
	case err != nil:
		return sessionlist.Read{}, err
	}
	return read, nil
}

// Save adds to the file what a screen recorded. Of a session that another screen recorded too, the
// later turn counts.
func (r *readState) Save(read sessionlist.Read) error {
	stored, err := r.Load()
	if err == nil {
		read.Merge(stored)
	}
	if err := r.file.Save(read); err != nil {
		return fmt.Errorf("save what was read: %w", err)
	}
	return nil
}

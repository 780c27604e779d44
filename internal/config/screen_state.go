package config

import (
	"fmt"
	"sync"

	"agentctl/internal/userstate"
)

const maxScreenState = 64 << 10 // bytes of the file

// ScreenState holds the user's choices on the screen. It holds no credential.
type ScreenState struct {
	SideHidden bool `json:"side_hidden"`
}

// ScreenStateFile is the file of a state that parts of the screen change. It is safe for concurrent
// use.
type ScreenStateFile struct {
	file userstate.File

	mu    sync.Mutex
	state ScreenState
}

// OpenScreenState reads the state from the user's directory. A missing or damaged file is the zero
// state.
func OpenScreenState(dir userstate.Dir) *ScreenStateFile {
	f := &ScreenStateFile{file: dir.File("screen.json", maxScreenState)}
	if f.file.Load(&f.state) != nil {
		f.state = ScreenState{}
	}
	return f
}

// State returns the present state.
func (f *ScreenStateFile) State() ScreenState {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state
}

// Change changes the state and saves it.
func (f *ScreenStateFile) Change(change func(*ScreenState)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(&f.state)
	if err := f.file.Save(f.state); err != nil {
		return fmt.Errorf("save the state of the screen: %w", err)
	}
	return nil
}

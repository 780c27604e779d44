package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"agentctl/internal/atomicfile"
)

// ScreenState is what the screen remembers of the user's choices. It holds no credential.
type ScreenState struct {
	SideHidden bool `json:"side_hidden"`
}

// ScreenStatePath returns the path of the file with the screen's state, or "" if the system has no
// place for it.
func ScreenStatePath(env func(string) string) string {
	dir := env("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		home := env("HOME")
		if home == "" {
			return ""
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "agentctl", "screen.json")
}

// LoadScreenState reads a state. A missing or damaged file is the zero state.
func LoadScreenState(path string) ScreenState {
	var s ScreenState
	data, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(data, &s) != nil {
		return ScreenState{}
	}
	return s
}

// Save replaces the file at a path by the state. It does nothing if the path is "".
func (s ScreenState) Save(path string) error {
	if path == "" {
		return nil
	}
	data, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("save the state of the screen: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("save the state of the screen: %w", err)
	}
	if err := atomicfile.Write(path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("save the state of the screen: %w", err)
	}
	return nil
}

// ScreenStateFile is the file of a state that parts of the screen change. It is safe for concurrent
// use.
type ScreenStateFile struct {
	path string

	mu    sync.Mutex
	state ScreenState
}

// OpenScreenState reads the state of a file.
func OpenScreenState(path string) *ScreenStateFile {
	return &ScreenStateFile{path: path, state: LoadScreenState(path)}
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
	return f.state.Save(f.path)
}

package config

import (
	"fmt"

	"agentctl/internal/userstate"
)

// ScreenState holds the user's choices on the screen, in a file of the user's directory. It holds no
// credential.
type ScreenState struct {
	SideHidden bool `json:"side_hidden"`
}

func screenStateFile(dir userstate.Dir) userstate.File { return dir.File("screen.json", 64<<10) }

// LoadScreenState reads the state. A missing or damaged file is the zero state.
func LoadScreenState(dir userstate.Dir) (s ScreenState) {
	if screenStateFile(dir).Load(&s) != nil {
		return ScreenState{}
	}
	return s
}

// Save replaces the state in the file.
func (s ScreenState) Save(dir userstate.Dir) error {
	if err := screenStateFile(dir).Save(s); err != nil {
		return fmt.Errorf("save the state of the screen: %w", err)
	}
	return nil
}

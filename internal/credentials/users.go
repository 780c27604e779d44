package credentials

import (
	"fmt"
	"os"

	"agentctl/internal/exit"
	"agentctl/internal/localserver"
	"agentctl/server/login"
)

// ReadUsers reads the file of users of a server. It refuses a file that other users of this machine
// can write to.
func ReadUsers(path string) (login.Users, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("users: %w", err)
	}
	if mode := info.Mode().Perm(); localserver.Supported && mode&0o022 != 0 {
		return nil, exit.Usagef("users: others can write to %s: run chmod go-w %s", path, path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("users: %w", err)
	}
	users, err := login.ReadUsers(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return users, nil
}

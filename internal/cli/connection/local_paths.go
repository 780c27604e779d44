package connection

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"agentctl/internal/agents"
	"agentctl/internal/exit"
	"agentctl/protocol"
)

// ResolvePaths makes the paths of a new session absolute: the server runs in another directory.
func ResolvePaths(d *protocol.CreateData) error {
	cwd, err := filepath.Abs(d.CWD) // "" is the current directory
	if err != nil {
		return fmt.Errorf("working directory: %w", err)
	}
	if info, err := os.Stat(cwd); err != nil || !info.IsDir() {
		return exit.Usagef("--cwd %s is not a directory", d.CWD)
	}
	d.CWD = cwd
	if file, ok := strings.CutPrefix(d.Agent, agents.ScriptScheme); ok {
		if file, err = filepath.Abs(file); err != nil {
			return fmt.Errorf("script: %w", err)
		}
		d.Agent = agents.ScriptScheme + file
	}
	return nil
}

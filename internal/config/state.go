package config

import (
	"os"
	"path/filepath"
	"runtime"
)

// StateDir returns the directory for what the programs of the user remember, or "" if the system
// has no place for it. It need not exist.
func StateDir(env func(string) string) string {
	dir := env("XDG_STATE_HOME")
	switch home := env("HOME"); {
	case filepath.IsAbs(dir):
	case runtime.GOOS == "windows":
		dir = env("LocalAppData")
	case runtime.GOOS == "darwin":
		dir, _ = os.UserConfigDir() // no directory, no state
	case home != "":
		dir = filepath.Join(home, ".local", "state")
	default:
		dir = ""
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "agentctl")
}

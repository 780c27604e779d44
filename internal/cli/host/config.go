package host

import (
	"os"

	"agentctl/internal/config"
	"agentctl/internal/localserver"
)

// ServerConfigPath returns the path of the configuration that servers of this user read by default,
// or "" if there is no such file.
func ServerConfigPath(env func(string) string) string {
	path := config.ServerPath(env)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// ConfigPath returns the path of the configuration of this user's server, or of the one that would
// be started if none runs; "" for no server.
func ConfigPath(env func(string) string, dir localserver.Dir) string {
	if dir.Holder() == 0 {
		return ServerConfigPath(env)
	}
	return dir.ConfigPath()
}

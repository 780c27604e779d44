package host

import (
	"bytes"
	"os"
	"slices"
	"strings"

	"agentctl/internal/config"
	"agentctl/internal/exit"
	"agentctl/internal/localserver"
)

// secretNames are parts of the names of variables that hold secrets.
var secretNames = []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"}

// ConfigSecrets returns the secrets of a configuration, and of the files and variables that it
// names if they can be read.
func ConfigSecrets(c *config.Server) []string {
	secrets := []string{c.StateSecret}
	add := func(values map[string]string) {
		for _, value := range values {
			secrets = append(secrets, value, os.ExpandEnv(value))
		}
	}
	for _, agent := range c.Agents {
		add(agent.Env)
	}
	for _, server := range c.MCP {
		add(server.Env)
		add(server.Headers)
	}
	for _, provider := range c.Providers {
		add(provider.Headers)
		secrets = append(secrets, os.Getenv(provider.KeyEnv))
	}
	for _, h := range c.Hooks {
		secrets = append(secrets, os.Getenv(h.SecretEnv))
		if b, err := ReadSecret(h.SecretFile); err == nil {
			secrets = append(secrets, string(b))
		}
	}
	return secrets
}

// LogSecrets returns the secrets that a log of the data directory may hold: a crash writes what it
// has.
func LogSecrets(env func(string) string, dir localserver.Dir) []string {
	secrets := ProcessSecrets(dir)
	if path := ConfigPath(env, dir); path != "" {
		if c, err := config.ReadServer(path); err == nil { // else doctor reports it
			secrets = append(secrets, ConfigSecrets(c)...)
		}
	}
	return secrets
}

// ProcessSecrets returns the secrets of the environment and of a data directory.
func ProcessSecrets(dir localserver.Dir) (secrets []string) {
	for _, kv := range os.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		named := func(part string) bool { return strings.Contains(strings.ToUpper(name), part) }
		if slices.ContainsFunc(secretNames, named) {
			secrets = append(secrets, value)
		}
	}
	for _, file := range []string{"token", "secret", "env.key"} {
		if b, err := os.ReadFile(dir.Path(file)); err == nil { // else a later reload reads it
			secrets = append(secrets, strings.TrimSpace(string(b)))
		}
	}
	return secrets
}

// ReadSecret reads a file that this user alone may read.
func ReadSecret(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, exit.Usagef("%s can be read by others: chmod 600 it", path)
	}
	b, err := os.ReadFile(path)
	return bytes.TrimSpace(b), err
}

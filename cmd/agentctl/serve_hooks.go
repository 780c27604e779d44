package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"

	"agentctl/internal/config"
	"agentctl/internal/exit"
	"agentctl/server/hook"
)

// serverHooks returns the hooks of the configuration with their secrets. It removes variables that
// hold one: agents inherit the environment.
func serverHooks(c *config.Server) ([]hook.Hook, error) {
	var hooks []hook.Hook
	for _, name := range slices.Sorted(maps.Keys(c.Hooks)) {
		configured := c.Hooks[name]
		h := configured.Hook(name)
		switch {
		case configured.SecretFile != "":
			b, err := readSecret(configured.SecretFile)
			if err != nil {
				return nil, fmt.Errorf("hooks.%s: secret_file: %w", name, err)
			}
			h.Secret = b
		case configured.SecretEnv != "":
			h.Secret = []byte(os.Getenv(configured.SecretEnv))
		}
		if err := h.CheckSecret(); err != nil {
			return nil, exit.Usagef("hooks.%s: %w", name, err)
		}
		hooks = append(hooks, h)
	}
	for _, h := range c.Hooks {
		if h.SecretEnv != "" {
			if err := os.Unsetenv(h.SecretEnv); err != nil {
				return nil, fmt.Errorf("environment: %w", err)
			}
		}
	}
	return hooks, nil
}

// readSecret reads a file that this user alone may read.
func readSecret(path string) ([]byte, error) {
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

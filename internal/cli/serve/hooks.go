package serve

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"

	"agentctl/internal/cli/host"
	"agentctl/internal/config"
	"agentctl/internal/exit"
	"agentctl/server/hook"
)

// hookSecrets are the variables that hold secrets of hooks. They are removed from the environment,
// which agents inherit, when they are first read.
type hookSecrets map[string]string

// get returns the value of a variable.
func (s hookSecrets) get(name string) (string, error) {
	if value, ok := os.LookupEnv(name); ok {
		s[name] = value
		if err := os.Unsetenv(name); err != nil {
			return "", fmt.Errorf("environment: %w", err)
		}
	}
	return s[name], nil
}

// serverHooks returns the hooks of the configuration with their secrets.
func serverHooks(c *config.Server, secrets hookSecrets) ([]hook.Hook, error) {
	var hooks []hook.Hook
	for _, name := range slices.Sorted(maps.Keys(c.Hooks)) {
		configured := c.Hooks[name]
		h := configured.Hook(name)
		switch {
		case configured.SecretFile != "":
			b, err := host.ReadSecret(configured.SecretFile)
			if err != nil {
				return nil, fmt.Errorf("hooks.%s: secret_file: %w", name, err)
			}
			h.Secret = b
		case configured.SecretEnv != "":
			value, err := secrets.get(configured.SecretEnv)
			if err != nil {
				return nil, err
			}
			h.Secret = []byte(value)
		}
		if err := h.CheckSecret(); err != nil {
			return nil, exit.Usagef("hooks.%s: %w", name, err)
		}
		hooks = append(hooks, h)
	}
	return hooks, nil
}

// warnHooks logs each hook whose program is not there: otherwise its first notification would show
// it.
func (r *runningConfig) warnHooks(hooks []hook.Hook) {
	for i := range hooks {
		if err := hooks[i].CheckProgram(exec.LookPath); err != nil {
			r.log.Warn("the hook cannot run: install its program or correct the configuration",
				"hook", hooks[i].Name, "err", err)
		}
	}
}

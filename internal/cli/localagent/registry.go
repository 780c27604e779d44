package localagent

import (
	"cmp"

	"agentctl/internal/agents"
	"agentctl/internal/cli/host"
	"agentctl/internal/cli/verb"
	"agentctl/internal/config"
)

// Inspector looks at the agents of this machine.
func Inspector(cli *verb.Context, r *agents.Registry, lookPath func(string) (string, error)) *agents.Inspector {
	return &agents.Inspector{Registry: r, LookPath: lookPath, Env: cli.Env, Home: cli.Env("HOME")}
}

// Registry returns the agents of this user's server: those of its configuration, if it has one, and
// the presets.
func Registry(cli *verb.Context) (*agents.Registry, error) {
	dir, err := cli.DataDir()
	if err != nil {
		return nil, err
	}
	registry := &agents.Registry{}
	if path := host.ConfigPath(cli.Env, dir); path != "" {
		c, err := config.ReadServer(path)
		if err != nil {
			return nil, err
		}
		registry = c.Registry()
	}
	registry.Default = cmp.Or(dir.DefaultAgent(), registry.Default)
	return registry, nil
}

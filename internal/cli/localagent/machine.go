package localagent

import (
	"cmp"
	"os/exec"

	"agentctl/internal/agents"
	"agentctl/internal/cli/host"
	"agentctl/internal/cli/verb"
	"agentctl/internal/config"
	"agentctl/internal/localserver"
)

// A Machine is this machine and user, whose server runs the agents.
type Machine struct {
	Env     func(string) string
	Data    string   // directory of --data; "": the user's
	PassEnv []string // variables of the shell that agents get, in addition to those that they are known to read
}

// Of returns the machine of a run.
func Of(cli *verb.Context) Machine {
	return Machine{Env: cli.Env, Data: cli.Flags.Data, PassEnv: cli.User.PassEnv}
}

// Inspector looks at the agents of this machine.
func (m Machine) Inspector(r *agents.Registry) *agents.Inspector {
	return &agents.Inspector{Registry: r, LookPath: exec.LookPath, Env: m.Env, Home: m.Env("HOME")}
}

// Registry returns the agents of this user's server: from its configuration, if it has one, and
// the presets.
func (m Machine) Registry() (*agents.Registry, error) {
	dir, err := localserver.FindDir(m.Env, m.Data)
	if err != nil {
		return nil, err
	}
	registry := new(config.Server).Registry()
	if path := host.ConfigPath(m.Env, dir); path != "" {
		c, err := config.ReadServer(path)
		if err != nil {
			return nil, err
		}
		registry = c.Registry()
	}
	registry.Default = cmp.Or(dir.DefaultAgent(), registry.Default)
	return registry, nil
}

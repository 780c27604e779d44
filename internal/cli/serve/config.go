package serve

import (
	"log/slog"
	"maps"
	"slices"
	"strings"

	"agentctl/internal/agents"
	"agentctl/internal/cli/host"
	"agentctl/internal/config"
	"agentctl/internal/localserver"
	"agentctl/internal/localserver/instance"
	"agentctl/server"
	"agentctl/server/sandbox"
)

// A runningConfig is the configuration of a running server, with the parts that can be replaced.
type runningConfig struct {
	options *serveOptions
	log     *slog.Logger
	dir     localserver.Dir
	started *config.Server // with which the server was started

	agents  *agents.Current
	sandbox *sandbox.Host
	origins *server.Origins
	secrets hookSecrets
}

// newRunningConfig returns the configuration of a server that starts on a directory.
func newRunningConfig(o *serveOptions, dir localserver.Dir, c *config.Server) *runningConfig {
	r := &runningConfig{
		options: o, log: o.Log.logger, started: c, dir: dir,
		origins: server.NewOrigins(c.Origins...), secrets: hookSecrets{},
	}
	r.sandbox = sandbox.New(sandbox.Options{
		Config: c.Config, Own: []string{string(dir), o.Config}, Dir: dir.Path(instance.SandboxDir),
	})
	r.agents = agents.NewCurrent(r.registry(c))
	return r
}

// registry returns the registry of the configured agents.
func (r *runningConfig) registry(c *config.Server) *agents.Registry {
	registry := c.Registry()
	registry.Instructions = config.UserInstructions(r.options.CLI.Env)
	registry.Changes, registry.Outputs = r.dir.Path("changes"), r.dir.Path(instance.Outputs)
	registry.Sandbox = r.sandbox
	return registry
}

// server returns the configuration for the server.
func (r *runningConfig) server(c *config.Server) server.Config {
	s := serverConfig(c, r.agents, r.options.CLI.Build.Version(), r.log)
	if files, err := host.OpenFileLimit(); err == nil && files < host.NeededFiles(s.Limits.Sockets()) {
		r.log.Warn("fewer open files than limits.connections needs: raise ulimit -n",
			"files", files, "needed", host.NeededFiles(s.Limits.Sockets()))
	}
	return s
}

// reload reads the configuration again: agents and MCP servers for agents that start later, limits
// and origins for later connections, hooks for later notifications, the rest for what begins later.
// It logs which changes need a restart. A configuration with an error changes nothing.
func (r *runningConfig) reload(s *server.Server) error {
	c, err := r.options.readConfig()
	if err != nil {
		return err
	}
	hooks, err := serverHooks(c, r.secrets)
	if err != nil {
		return err
	}
	if err := s.SetHooks(hooks); err != nil {
		return err
	}
	r.hideSecrets(c)
	r.warnHooks(hooks)
	r.origins.Set(c.Origins)
	s.Reconfigure(r.server(c))
	r.agents.Replace(r.registry(c))
	if keys := r.started.RestartFor(c); keys != nil {
		r.log.Warn("not reloaded: changes of these need a restart", "keys", strings.Join(keys, ", "))
	}
	return nil
}

// hideSecrets keeps the secrets of a configuration out of the log.
func (r *runningConfig) hideSecrets(c *config.Server) {
	r.options.Log.hide(c, r.dir, slices.Collect(maps.Values(r.secrets))...)
}

package main

import (
	"log/slog"
	"strings"

	"agentctl/internal/agents"
	"agentctl/internal/config"
	"agentctl/server"
)

// A runningConfig is the configuration of a running server, with the parts that can be replaced.
type runningConfig struct {
	options *serveOptions
	log     *slog.Logger
	started *config.Server // with which the server was started

	agents  *agents.Current
	origins *server.Origins
}

// newRunningConfig returns the configuration of a server that starts.
func newRunningConfig(o *serveOptions, c *config.Server) *runningConfig {
	return &runningConfig{
		options: o, log: o.logger(), started: c,
		agents: agents.NewCurrent(c.Registry()), origins: server.NewOrigins(c.Origins...),
	}
}

// server returns the configuration as that of the server.
func (r *runningConfig) server(c *config.Server) server.Config {
	return serverConfig(c, r.agents, r.log)
}

// reload reads the configuration again: agents and MCP servers for agents that start later, limits
// and origins for later connections, the rest for what begins later. It logs which changes need a
// restart.
func (r *runningConfig) reload(s *server.Server) error {
	c, err := r.options.readConfig()
	if err != nil {
		return err
	}
	r.agents.Replace(c.Registry())
	r.origins.Set(c.Origins)
	s.Reconfigure(r.server(c))
	if keys := r.started.RestartFor(c); keys != nil {
		r.log.Warn("not reloaded: changes of these need a restart", "keys", strings.Join(keys, ", "))
	}
	return nil
}

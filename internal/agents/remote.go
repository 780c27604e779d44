package agents

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"agentctl/server/agent/acp"
	"agentctl/server/agent/acp/remote"
)

// RunsElsewhere implements confinement.Elsewhere.
func (r *Registry) RunsElsewhere(agent string) bool {
	agent = cmp.Or(agent, r.Default)
	if c, ok := r.Configured[agent]; ok {
		return c.URL != ""
	}
	_, ok := acp.Address(agent)
	return ok
}

// remote returns how to reach an agent on another machine.
func (c *Config) remote(name string) acp.Config {
	address := &remote.Address{URL: c.URL, Headers: http.Header{}}
	for header, value := range c.Headers {
		address.Headers.Set(header, value)
	}
	return acp.Config{Name: name, Env: c.Env, Version: c.ACP, NestSubAgents: c.Nest, Remote: address}
}

// checkRemote returns the first invalid value of an agent on another machine, with its key.
func (c *Config) checkRemote() error {
	if c.URL == "" {
		return nil
	}
	if err := remote.CheckURL(c.URL); err != nil {
		return fmt.Errorf("url: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		if name == "" || strings.ContainsAny(name, ":\x00\r\n ") {
			return fmt.Errorf("headers: invalid name %q", name)
		}
		if err := acp.CheckVariables(c.Headers[name]); err != nil {
			return fmt.Errorf("headers.%s: %w", name, err)
		}
	}
	return nil
}

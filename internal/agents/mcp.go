package agents

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"agentctl/server/agent/acp"
)

// An MCPServer is a configured server of the Model Context Protocol.
type MCPServer struct {
	acp.MCPServer

	Agents []string `json:"agents"` // names of the agents that get it; default all

	MCPLimits
}

// MCPLimits are for agents that request a model themselves. Other agents have their own limits.
type MCPLimits struct {
	// TrustReadOnly runs the tools that the server calls read-only without asking.
	TrustReadOnly bool `json:"trust_read_only"`

	StartTimeout Timeout `json:"start_timeout"` // until the tools are known; default 30s
	CallTimeout  Timeout `json:"call_timeout"`  // of a call, from its start or last progress; default 60s
}

// A Timeout is written in Go's form: 90s, 5m. It is never negative.
type Timeout time.Duration

// UnmarshalText reads a timeout.
func (t *Timeout) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err == nil && v < 0 {
		err = fmt.Errorf("timeout %s is negative", v)
	}
	*t = Timeout(v)
	return err
}

// mcpServers returns the servers of an agent, sorted by name.
func (r *Registry) mcpServers(agent string) []acp.MCPServer {
	var list []acp.MCPServer
	for _, name := range slices.Sorted(maps.Keys(r.MCP)) {
		s := r.MCP[name]
		if s.Agents == nil || slices.Contains(s.Agents, agent) {
			s.Name = name
			list = append(list, s.MCPServer)
		}
	}
	return list
}

// Check returns the first invalid value of the server. It does not know which agents exist.
func (s *MCPServer) Check() error {
	switch {
	case (s.Command == "") == (s.URL == ""):
		return errors.New("want either a command or a url")
	case s.Command != "" && (s.Type != "" || s.Headers != nil):
		return errors.New("a command takes no type and no headers")
	case s.URL != "" && (s.Args != nil || s.Env != nil):
		return errors.New("a url takes no args and no env")
	case s.Type != "" && s.Type != acp.MCPHTTP && s.Type != acp.MCPSSE:
		return fmt.Errorf("invalid type %q: want %s or %s", s.Type, acp.MCPHTTP, acp.MCPSSE)
	case s.URL != "" && !isMCPURL(s.URL):
		return fmt.Errorf("invalid url %q: want https://… or http://…", s.URL)
	}
	for _, v := range append([]string{s.URL}, s.Args...) {
		if err := acp.CheckVariables(v); err != nil {
			return err
		}
	}
	for _, values := range []map[string]string{s.Env, s.Headers} {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			if name == "" || strings.ContainsAny(name, "=:\x00\r\n ") {
				return fmt.Errorf("invalid name %q of a variable or header", name)
			}
			if err := acp.CheckVariables(values[name]); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// isMCPURL reports whether url is a URL of HTTP, or begins with a variable that may hold one.
func isMCPURL(url string) bool {
	return slices.ContainsFunc([]string{"http://", "https://", "${"}, func(prefix string) bool {
		return strings.HasPrefix(url, prefix) && len(url) > len(prefix)
	})
}

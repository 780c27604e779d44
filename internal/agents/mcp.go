package agents

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"agentctl/server/agent/acp"
)

// An MCPServer is a configured server of the Model Context Protocol.
type MCPServer struct {
	acp.MCPServer

	Agents []string `json:"agents"` // names of the agents that get it; nil: every agent, empty: none
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

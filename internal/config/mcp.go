package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// checkMCP returns the first invalid MCP server, with its key.
func (c *Server) checkMCP() error {
	registry := c.Registry()
	for _, name := range slices.Sorted(maps.Keys(c.MCP)) {
		s := c.MCP[name]
		err := s.Check()
		if name == "" {
			err = errors.New("a server needs a name")
		}
		for _, agent := range s.Agents {
			if err == nil {
				err = registry.Check(agent)
			}
		}
		if err != nil {
			return fmt.Errorf("mcp.%s: %w", name, err)
		}
	}
	return nil
}

// resolveMCPPaths makes relative paths of programs absolute.
func (c *Server) resolveMCPPaths(dir string) {
	for name, s := range c.MCP {
		s.Command = absoluteProgram(dir, s.Command)
		c.MCP[name] = s
	}
}

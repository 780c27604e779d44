package protocol

import (
	"fmt"
	"strings"
	"unicode"
)

// An MCPServer is a server of the Model Context Protocol for the agent of one session: a command that
// the agent runs, or a URL. The values of Env and Headers may be secrets: they are never in the log and
// never sent to clients.
type MCPServer struct {
	Name    string            `json:"name"`
	Command string            `json:"command,omitempty"` // program
	Args    []string          `json:"args,omitempty"`    // of the program
	Env     map[string]string `json:"env,omitempty"`     // variables of the program
	Type    string            `json:"type,omitempty"`    // of a URL: http or sse; default http
	URL     string            `json:"url,omitempty"`     // of a server by HTTP, instead of a command
	Headers map[string]string `json:"headers,omitempty"` // of requests to the URL
}

// Bounds of the MCP servers of a session.
const (
	maxMCPServers    = 64
	maxMCPServerName = 64 // bytes
)

// MayNameMCPServers reports whether a role may name MCP servers for a session: their commands run
// without an approval.
func (r Role) MayNameMCPServers() bool { return r == "" || r == RoleAdmin }

// CheckMCPServers returns an error for MCP servers that no session can have.
func CheckMCPServers(list []MCPServer) error {
	if len(list) > maxMCPServers {
		return &Error{Code: CodeTooLarge, Limit: maxMCPServers, Message: "mcp_servers: too many"}
	}
	names := map[string]bool{}
	for i := range list {
		s := &list[i]
		problem := s.problem()
		if names[s.Name] {
			problem = "is named twice"
		}
		if names[s.Name] = true; problem != "" {
			return Errorf(CodeInvalidMessage, "mcp_servers: %.80q %s", s.Name, problem)
		}
	}
	return nil
}

// problem returns what is invalid; empty: nothing.
func (s *MCPServer) problem() string {
	switch {
	case s.Name == "" || len(s.Name) > maxMCPServerName || strings.ContainsFunc(s.Name, unicode.IsControl):
		return fmt.Sprintf("is not a name of 1 to %d bytes", maxMCPServerName)
	case (s.Command == "") == (s.URL == ""):
		return "wants either a command or a url"
	case s.Command != "" && (s.Type != "" || s.Headers != nil):
		return "is a command, which takes no type and no headers"
	case s.URL != "" && (s.Args != nil || s.Env != nil):
		return "is a url, which takes no args and no env"
	case s.Type != "" && s.Type != "http" && s.Type != "sse":
		return "has an invalid type: want http or sse"
	case s.URL != "" && !strings.HasPrefix(s.URL, "http://") && !strings.HasPrefix(s.URL, "https://"):
		return "has an invalid url: want https://… or http://…"
	case strings.Contains(s.Command+strings.Join(s.Args, ""), "\x00"):
		return "has a command with a null character"
	}
	for _, values := range []map[string]string{s.Env, s.Headers} {
		for name, value := range values {
			if name == "" || strings.ContainsAny(name, "=:\x00\r\n ") || strings.ContainsAny(value, "\x00") ||
				s.URL != "" && strings.ContainsAny(value, "\r\n") {
				return "has an invalid variable or header"
			}
		}
	}
	return ""
}

// MCPServerNames returns the names of MCP servers; nil for none.
func MCPServerNames(list []MCPServer) (names []string) {
	for i := range list {
		names = append(names, list[i].Name)
	}
	return names
}

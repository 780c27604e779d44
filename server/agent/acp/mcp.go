package acp

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"agentctl/protocol"
)

// Transports of an MCPServer with a URL.
const (
	MCPHTTP = "http"
	MCPSSE  = "sse"
)

// An MCPServer is a server of the Model Context Protocol for the agent: a command that the agent
// runs, or a URL. ${NAME} in arguments, the URL and the values of Env and Headers is a variable of
// the agent's environment.
type MCPServer struct {
	Name    string            `json:"-"`
	Command string            `json:"command"` // program
	Args    []string          `json:"args"`    // of the program
	Env     map[string]string `json:"env"`     // variables of the program
	Type    string            `json:"type"`    // of a URL: http or sse; default http
	URL     string            `json:"url"`     // of a server by HTTP, instead of a command
	Headers map[string]string `json:"headers"` // of requests to the URL
}

// mcpCommand is a command in mcpServers. The protocol has no type for it, and wants every list.
type mcpCommand struct {
	Name    string     `json:"name"`
	Command string     `json:"command"`
	Args    []string   `json:"args"`
	Env     []mcpValue `json:"env"`
}

// mcpURL is a URL in mcpServers.
type mcpURL struct {
	Type    string     `json:"type"`
	Name    string     `json:"name"`
	URL     string     `json:"url"`
	Headers []mcpValue `json:"headers"`
}

type mcpValue struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// variable matches a reference to an environment variable.
var variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`) })

// CheckVariables returns an error unless every "${" of a value begins a reference to a variable.
func CheckVariables(value string) error {
	if strings.Contains(variable().ReplaceAllString(value, "x"), "${") {
		return errors.New("invalid variable: want ${NAME}")
	}
	return nil
}

// mcpServers returns the configured servers and those of the session that the agent takes, in the form
// of the protocol, and a text about each of the others. A configured server has its name alone.
func (c *client) mcpServers(env []string, ofSession []protocol.MCPServer) (servers []any, leftOut []string) {
	servers = []any{} // never null
	add := func(s MCPServer, lookup func(name string) string) {
		expanded, err := s.Expand(lookup)
		server, refused := expanded.encode(c.agentInfo.Capabilities.MCP)
		if err = cmp.Or(refused, err); err != nil {
			leftOut = append(leftOut, fmt.Sprintf("%s (%v)", s.Name, err))
			return
		}
		servers = append(servers, server)
	}
	for _, s := range c.config.MCP {
		add(s, lookupIn(env))
	}
	for _, s := range ofSession {
		if !slices.ContainsFunc(c.config.MCP, func(other MCPServer) bool { return other.Name == s.Name }) {
			add(MCPServer(s), nil)
		}
	}
	return servers, leftOut
}

// encode returns an expanded server in the form of the protocol. It fails if the agent does not take
// its transport.
func (s *MCPServer) encode(takes mcpCapabilities) (any, error) {
	if s.Command != "" {
		return mcpCommand{s.Name, programPath(s.Command), s.Args, valuesOf(s.Env)}, nil
	}
	transport := cmp.Or(s.Type, MCPHTTP)
	if transport == MCPHTTP && !takes.HTTP || transport == MCPSSE && !takes.SSE {
		return nil, fmt.Errorf("the agent takes no servers of type %s", transport)
	}
	return mcpURL{transport, s.Name, s.URL, valuesOf(s.Headers)}, nil
}

// programPath returns the absolute path of a program, which the protocol wants. The agent looks for
// a program that this server does not find.
func programPath(name string) string {
	path, err := exec.LookPath(name)
	if err != nil || !filepath.IsAbs(path) {
		return name
	}
	return path
}

// Expand returns the server with the values of variables. lookup returns "" for a variable that is
// not set; a nil lookup keeps references as they are.
func (s MCPServer) Expand(lookup func(name string) string) (MCPServer, error) {
	x := expansion{lookup: lookup}
	args := make([]string, len(s.Args))
	for i, arg := range s.Args {
		args[i] = x.expand(arg)
	}
	s.Args, s.URL, s.Env, s.Headers = args, x.expand(s.URL), x.expandAll(s.Env), x.expandAll(s.Headers)
	return s, x.err
}

// lookupIn returns how variables are looked up in an environment.
func lookupIn(env []string) func(name string) string {
	return func(name string) string {
		for _, kv := range env {
			if k, v, _ := strings.Cut(kv, "="); k == name && v != "" {
				return v
			}
		}
		return ""
	}
}

// An expansion replaces references to variables. It keeps the first error.
type expansion struct {
	lookup func(name string) string // nil: values are literal
	err    error
}

func (x *expansion) expand(value string) string {
	if x.lookup == nil {
		return value
	}
	return variable().ReplaceAllStringFunc(value, func(ref string) string {
		v := x.lookup(ref[len("${") : len(ref)-len("}")])
		if v == "" && x.err == nil {
			x.err = fmt.Errorf("%s is not set: pass it with agentctl new --env or pass_env in your configuration", ref)
		}
		return v
	})
}

func (x *expansion) expandAll(of map[string]string) map[string]string {
	all := make(map[string]string, len(of))
	for name, value := range of {
		all[name] = x.expand(value)
	}
	return all
}

// valuesOf returns a list, which is never nil, sorted by name.
func valuesOf(m map[string]string) []mcpValue {
	list := make([]mcpValue, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		list = append(list, mcpValue{name, m[name]})
	}
	return list
}

// reportLeftOut reports to users the servers that the agent did not get. It repeats nothing that an
// earlier process of the session reported.
func (a *Agent) reportLeftOut(c *client, leftOut []string) error {
	text := strings.Join(leftOut, ", ")
	if text == a.savedState().LeftOut {
		return nil
	}
	if text != "" {
		c.notice(protocol.LevelWarning, a.config.Name+" runs without these MCP servers", text)
	}
	return a.updateState(func(s *state) { s.LeftOut = text })
}

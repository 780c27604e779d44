package agents

import (
	"maps"
	"slices"
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/acp"
	"agentctl/server/agent/llm"
	"agentctl/server/agent/llm/provider"
	"agentctl/server/agent/mcp"
	"agentctl/server/agent/tool"
	"agentctl/server/sandbox"
)

// servers gives the tools of MCP servers a name in a toolbox.
type servers = mcp.Toolbox

// A toolbox has agentctl's tools and the tools of MCP servers.
type toolbox struct {
	*tool.Toolbox
	*servers
}

var _ llm.Servers = (*toolbox)(nil)

// openToolbox opens the tools of a session of an agent.
func (r *Registry) openToolbox(name string, spec agent.Spec, host agent.Host) (llm.Toolbox, error) {
	env := r.variables(name, &spec)
	tools := r.Configured[name].Tools
	if spec.Sandbox.Network == protocol.SandboxNetworkOff {
		tools.Fetch = false // the server would request the pages
	}
	own, err := tool.Open(tool.Options{
		Config: tools, Session: spec.Session, CWD: spec.CWD, Host: host,
		Changes: r.Changes, Outputs: r.Outputs, Own: spec.OwnDirectories,
		Instructions: r.Instructions, Box: spec.Box,
		Reader: sync.OnceValue(func() *sandbox.Box { return r.reader(&spec) }),
		Env:    r.Providers.CommandEnvironment(env),
	})
	if err != nil {
		return nil, err
	}
	servers := r.modelServers(name, env, spec.MCPServers)
	if servers == nil {
		return own, nil
	}
	return &toolbox{own, mcp.Open(mcp.Options{
		Servers: servers, Session: spec.Session, CWD: spec.CWD, Host: host, Shorten: own.Shorten,
		Box: spec.Box,
	})}, nil
}

// modelServers returns the MCP servers of an agent that requests a model itself, and those of its
// session. A configured server has its name alone.
func (r *Registry) modelServers(
	name string, env map[string]string, ofSession []protocol.MCPServer,
) (list []mcp.Server) {
	for _, of := range r.mcpServers(name) {
		list = append(list, r.modelServer(of.Name, env, provider.Environment(env)))
	}
	for _, of := range ofSession {
		if !slices.ContainsFunc(list, func(other mcp.Server) bool { return other.Name == of.Name }) {
			list = append(list, r.serverProgram(mcp.Server{Name: of.Name, Type: of.Type}, acp.MCPServer(of), env))
		}
	}
	return list
}

// modelServer returns an MCP server. Its program does not get the keys of providers, unless the
// configuration names one. lookup has the values of variables.
func (r *Registry) modelServer(name string, env map[string]string, lookup func(string) string) mcp.Server {
	of := r.MCP[name]
	s := mcp.Server{
		Name: name, Type: of.Type, TrustReadOnly: of.TrustReadOnly,
		StartTimeout: time.Duration(of.StartTimeout), CallTimeout: time.Duration(of.CallTimeout),
	}
	x, err := of.Expand(lookup)
	if err != nil {
		s.Problem = err.Error()
	}
	return r.serverProgram(s, x, env)
}

// serverProgram returns an MCP server with its program or URL.
func (r *Registry) serverProgram(s mcp.Server, x acp.MCPServer, env map[string]string) mcp.Server {
	s.URL, s.Headers = x.URL, x.Headers
	if x.Command == "" {
		return s
	}
	s.Command, s.Env = append([]string{x.Command}, x.Args...), r.Providers.CommandEnvironment(env)
	for _, key := range slices.Sorted(maps.Keys(x.Env)) {
		s.Env = append(s.Env, key+"="+x.Env[key])
	}
	return s
}

// Tools implements llm.Toolbox.
func (b *toolbox) Tools() []llm.Tool { return slices.Concat(b.Toolbox.Tools(), b.servers.Tools()) }

// Close implements llm.Toolbox.
func (b *toolbox) Close() error {
	b.servers.Close()
	return b.Toolbox.Close()
}

package agents

import (
	"slices"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/server/agent/acp"
)

func TestAnAgentGetsTheMCPServersForEveryAgentAndItsOwn(t *testing.T) {
	server := func(command string, agents []string) MCPServer {
		return MCPServer{MCPServer: acp.MCPServer{Command: command}, Agents: agents}
	}
	r := &Registry{MCP: map[string]MCPServer{
		"b": server("all", nil), "c": server("off", []string{}),
		"a": server("two", []string{"claude", "acp:my-agent --acp"}),
	}}
	for agent, want := range map[string][]string{
		"claude": {"a=two", "b=all"}, "acp:my-agent --acp": {"a=two", "b=all"}, "gemini": {"b=all"},
	} {
		var got []string
		for _, s := range r.mcpServers(agent) {
			got = append(got, s.Name+"="+s.Command)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", agent, got, want)
		}
	}
}

// An agent with a model gets the servers of its session; a configured one has its name alone.
func TestAModelGetsTheMCPServersOfItsSession(t *testing.T) {
	r := &Registry{MCP: map[string]MCPServer{"a": {MCPServer: acp.MCPServer{Command: "configured"}}}}
	var got []string
	for _, s := range r.modelServers("llm", nil, []protocol.MCPServer{
		{Name: "a", Command: "own"}, {Name: "b", Command: "own", Args: []string{"${X}"}, Env: map[string]string{"K": "${V}"}},
	}) {
		if got = append(got, s.Name+"="+strings.Join(s.Command, " ")); s.Problem != "" {
			t.Error(s.Problem)
		}
		if s.Name == "b" && !slices.Contains(s.Env, "K=${V}") {
			t.Errorf("variables %q", s.Env)
		}
	}
	if want := []string{"a=configured", "b=own ${X}"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

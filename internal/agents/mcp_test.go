package agents

import (
	"slices"
	"testing"

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

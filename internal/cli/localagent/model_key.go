package localagent

import (
	"strings"

	"agentctl/internal/agents"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/protocol"
)

// KeyHint says how a model gets its key. The error names the variable.
const KeyHint = "export the key here and run this again; a variable that agentctl does not know is passed with " +
	`--env or "pass_env"; or set "key_env" or "key_command" of the provider in server.json`

// WithKeyHint returns err with KeyHint if an agent that requests a model itself has no key:
// such an agent has no login.
func WithKeyHint(cli *verb.Context, err error, agent string, own bool) error {
	if protocol.CodeOf(err) != protocol.CodeAgentAuth || !IsModel(cli, agent, own) {
		return err
	}
	e := *exit.From(err)
	return e.WithHint("%s", KeyHint)
}

// IsModel reports whether an agent requests a model itself. That of another server is known by its
// name only.
func IsModel(cli *verb.Context, agent string, own bool) bool {
	if agent == agents.LLM || strings.HasPrefix(agent, agents.LLMScheme) {
		return true
	}
	registry, err := Registry(cli)
	return own && err == nil && registry.Configured[agent].Model != ""
}

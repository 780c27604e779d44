package localagent

import (
	"os"
	"slices"
	"strings"

	"agentctl/internal/agents"
	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/server/agent/acp"
	"agentctl/server/agent/acp/catalog"
	"agentctl/server/agent/process"
)

// minSecret is the length of the shortest value that the log of --wire hides, in bytes.
const minSecret = 8

// Environment returns the variables that a session of an agent gets from the user's shell on
// the user's own server. A variable that the shell lacks is empty, which removes the variable of
// the server: it may be older. The shell of an agent passes keys of the agent alone: the server
// accepts no others from it.
func (m Machine) Environment(agent string) map[string]string {
	env := map[string]string{}
	if strings.HasPrefix(agent, agents.ScriptScheme) {
		return env
	}
	if m.Env(process.SessionVariable) != "" {
		registry, err := m.Registry()
		if err != nil { // the server reports a missing key
			return env
		}
		for _, name := range registry.Keys(agent) {
			if v := m.Env(name); v != "" {
				env[name] = v
			}
		}
		return env
	}
	// The server's configuration may name any agent.
	names := append(catalog.Environment(), agents.AddressVariables()...)
	if p, ok := acp.FindPreset(agent); ok {
		names = p.Environment()
	}
	for _, name := range slices.Concat(names, m.PassEnv) {
		prefix, all := strings.CutSuffix(name, "*")
		if !all {
			env[name] = m.Env(name)
			continue
		}
		for _, kv := range os.Environ() {
			k, _, _ := strings.Cut(kv, "=")
			if v := m.Env(k); strings.HasPrefix(k, prefix) && v != "" {
				env[k] = v
			}
		}
	}
	delete(env, "AGENTCTL_TOKEN")
	return env
}

// SecretValues returns the values that the log of --wire hides.
func (m Machine) SecretValues() []string {
	var values []string
	for _, v := range m.Environment("") {
		if len(v) >= minSecret {
			values = append(values, v)
		}
	}
	return values
}

// KeyHint says how a model gets its key. The error names the variable.
const KeyHint = "export the key here and run this again; a variable that agentctl does not know is passed with " +
	`--env or "pass_env"; or set "key_env" or "key_command" of the provider in server.json`

// WithKeyHint returns err with KeyHint if an agent that requests a model itself has no key:
// such an agent has no login.
func (m Machine) WithKeyHint(err error, agent string, own bool) error {
	if protocol.CodeOf(err) != protocol.CodeAgentAuth || !m.IsModel(agent, own) {
		return err
	}
	e := *exit.From(err)
	return e.WithHint("%s", KeyHint)
}

// IsModel reports whether an agent requests a model itself. An agent of another server is known by
// its name only.
func (m Machine) IsModel(agent string, own bool) bool {
	if agent == agents.LLM || strings.HasPrefix(agent, agents.LLMScheme) {
		return true
	}
	registry, err := m.Registry()
	return own && err == nil && registry.Configured[agent].Model != ""
}

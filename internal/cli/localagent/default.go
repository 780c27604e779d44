package localagent

import (
	"strings"

	"agentctl/internal/agents"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
)

// Choose returns the agent of a new session without --agent, and reports which it is and why. It
// is empty if the server decides, as one that is not the user's own does.
func Choose(cli *verb.Context, own bool, names []string) (string, error) {
	if !own || cli.Flags.Dialect != "" {
		return "", nil
	}
	name, why, err := Of(cli).Default(names)
	if err == nil && !cli.Out.JSON {
		cli.Out.Notef("agent %s: %s", output.OneLine(name, 40), output.OneLine(why, 60))
	}
	return name, err
}

// Default returns the default agent of the user's own server, and why: the configured one,
// else the first one of the server's agents that is ready.
func (m Machine) Default(names []string) (name, why string, err error) {
	registry, err := m.Registry()
	if err != nil {
		return "", "", err
	}
	if registry.Default != "" {
		return registry.Default, "the default of the server", nil
	}
	if name, why = firstReady(m.Inspector(registry), names); name == "" {
		return "", "", noAgentReady()
	}
	return name, why, nil
}

// firstReady returns the first agent that is ready for a turn, and why: one with a key, a login or
// a script, else one that is installed and keeps its login where it cannot be seen.
func firstReady(x *agents.Inspector, names []string) (name, why string) {
	installed := ""
	for _, agent := range names {
		r := x.Inspect(agent)
		switch {
		case Readiness(&r) != 0:
		case r.Script != "":
			return agent, "the first one that is ready"
		case r.Login == agents.LoginFound:
			return agent, "the first one that is ready, by " + r.LoginBy
		case installed == "":
			installed = agent
		}
	}
	if installed != "" {
		return installed, "it is installed; whether it is logged in is not known"
	}
	return "", ""
}

// noAgentReady returns the error of a machine without an agent, with the shortest ways to one.
func noAgentReady() error {
	return exit.Errorf(exit.Failure, protocol.CodeNoAgent, "no agent is ready, and the server has no default").
		WithHint("%s", strings.Join([]string{
			"export ANTHROPIC_API_KEY=…    or OPENAI_API_KEY, GEMINI_API_KEY: agent llm",
			"npm install -g @agentclientprotocol/claude-agent-acp",
			"agentctl agents login claude",
			"ollama pull qwen3             then --agent llm:ollama/qwen3",
			"agentctl agents               all agents",
			"agentctl tour                 without an agent",
		}, "\n  "))
}

package localagent

import (
	"errors"
	"strings"
	"testing"

	"agentctl/internal/agents"
	"agentctl/internal/exit"
)

func TestTheDefaultAgentIsTheFirstThatIsReady(t *testing.T) {
	installed, env := map[string]bool{}, map[string]string{}
	x := &agents.Inspector{
		Registry: &agents.Registry{Configured: map[string]agents.Config{"mine": {Command: "my-agent"}}},
		LookPath: func(program string) (string, error) {
			if !installed[program] {
				return "", errors.New("not found")
			}
			return "/bin/" + program, nil
		},
		Env: func(name string) string { return env[name] }, Home: t.TempDir(),
	}
	check := func(want, reason string) {
		t.Helper()
		if name, why := firstReady(x, x.Registry.Names()); name != want || !strings.Contains(why, reason) {
			t.Errorf("%q (%s), want %q (%s)", name, why, want, reason)
		}
	}
	check("", "")
	installed["gemini"] = true
	check("", "")
	installed["my-agent"] = true
	check("mine", "not known")
	env["GEMINI_API_KEY"] = "k"
	check("gemini", "GEMINI_API_KEY")
	clear(installed)
	check("llm", "GEMINI_API_KEY")
	env["ANTHROPIC_API_KEY"] = "k"
	installed["claude-agent-acp"] = true
	check("claude", "ANTHROPIC_API_KEY")
}

func TestAMachineWithoutAgentsIsToldTheShortestWays(t *testing.T) {
	var e *exit.Error
	if !errors.As(noAgentReady(), &e) || e.Code != "no_agent" || strings.Count(e.Hint, "\n") != 5 ||
		!strings.Contains(e.Hint, "ANTHROPIC_API_KEY") || !strings.Contains(e.Hint, "agentctl tour") {
		t.Errorf("%+v", e)
	}
}

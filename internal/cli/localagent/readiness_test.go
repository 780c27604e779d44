package localagent

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"agentctl/internal/agents"
)

// TestAgentsThatAreReadyComeFirst sorts agents of a machine that has two of them, one with a login.
func TestAgentsThatAreReadyComeFirst(t *testing.T) {
	x := twoInstalled(t)
	names := []string{"claude", "codex", "gemini"}
	if got, want := readyFirst(x, names), []string{"gemini", "codex", "claude"}; !slices.Equal(got, want) {
		t.Errorf("sorted %q, want %q", got, want)
	}
}

// TestNewSessionsStartWithAnAgentThatIsReady chooses the agent of the form beside several defaults.
func TestNewSessionsStartWithAnAgentThatIsReady(t *testing.T) {
	names := []string{"claude", "codex", "gemini"}
	for standard, want := range map[string]string{
		"": "gemini", "claude": "gemini", "codex": "gemini", "gemini": "", "missing": "gemini",
	} {
		x := twoInstalled(t)
		x.Registry.Default = standard
		if got := formAgent(x, names); got != want {
			t.Errorf("default %q: the form starts with %q, want %q", standard, got, want)
		}
	}
	if got := formAgent(twoInstalled(t), []string{"claude", "codex"}); got != "" {
		t.Errorf("no agent is ready: the form starts with %q", got)
	}
}

// twoInstalled returns an inspector of a machine that has two agents, gemini with a login.
func twoInstalled(t *testing.T) *agents.Inspector {
	t.Helper()
	home := t.TempDir()
	return &agents.Inspector{
		Registry: new(agents.Registry), Home: home,
		Env: func(name string) string { return map[string]string{"GEMINI_API_KEY": "k"}[name] },
		LookPath: func(program string) (string, error) {
			if slices.Contains([]string{"gemini", "opencode", "codex-acp"}, program) {
				return filepath.Join(home, program), nil
			}
			return "", os.ErrNotExist
		},
	}
}

package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"agentctl/internal/agents"
)

// TestAgentsThatAreReadyComeFirst sorts agents of a machine that has two of them, one with a login.
func TestAgentsThatAreReadyComeFirst(t *testing.T) {
	home := t.TempDir()
	x := &agents.Inspector{
		Registry: new(agents.Registry), Home: home,
		Env: func(name string) string { return map[string]string{"GEMINI_API_KEY": "k"}[name] },
		LookPath: func(program string) (string, error) {
			if slices.Contains([]string{"gemini", "opencode", "codex-acp"}, program) {
				return filepath.Join(home, program), nil
			}
			return "", os.ErrNotExist
		},
	}
	names := []string{"claude", "codex", "gemini"}
	if got, want := readyFirst(x, names)(names), []string{"gemini", "codex", "claude"}; !slices.Equal(got, want) {
		t.Errorf("sorted %q, want %q", got, want)
	}
}

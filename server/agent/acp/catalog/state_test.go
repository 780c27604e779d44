package catalog

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// protected are names of what an agent runs, or of what says what it may do.
var protected = []string{
	"agents", "bin", "commands", "config", "cron", "hooks", "mcp", "permission", "permissions", "plugins", "policies", "rules",
	"settings", "skills", "tools",
}

func TestNoStateKeepsSettingsOrPrograms(t *testing.T) {
	for _, p := range Presets() {
		if (p.State == nil) != (p.Name == "cursor") {
			t.Errorf("%s has %d directories of state; docs/agents.md names the agents without any", p.Name, len(p.State))
		}
		for _, s := range p.State {
			for _, name := range s.Kept {
				word, _, _ := strings.Cut(strings.TrimPrefix(path.Base(name), "."), ".")
				if slices.Contains(protected, word) {
					t.Errorf("%s: %s/%s can be written", p.Name, s.Dir, name)
				}
			}
		}
	}
}

// A variable that moves the state comes from the shell of the session's creator, as others do. Those of
// XDG are for all programs.
func TestVariablesOfStateAreVariablesOfTheAgent(t *testing.T) {
	for _, p := range Presets() {
		for _, s := range p.State {
			for _, moved := range s.Moved {
				name, _, _ := strings.Cut(moved, "/")
				known := slices.ContainsFunc(p.Environment(), func(v string) bool {
					prefix, all := strings.CutSuffix(v, "*")
					return v == name || all && strings.HasPrefix(name, prefix)
				})
				if !known && !strings.HasPrefix(name, "XDG_") {
					t.Errorf("%s does not get %s", p.Name, name)
				}
			}
		}
	}
}

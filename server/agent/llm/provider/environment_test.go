package provider

import (
	"slices"
	"testing"
)

func TestCommandsGetNoKeys(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "MINE", "TEAM", "REMOVED", "PLAIN"} {
		t.Setenv(name, "server")
	}
	set := Set{"mine": {KeyEnv: "MINE", Headers: map[string]string{"X-Team": "a ${TEAM}"}}}
	env := set.CommandEnvironment(map[string]string{
		"REMOVED": "", "OWN": "1", "PLAIN": "session", "ANTHROPIC_API_KEY": "k", "MINE": "k",
	})
	for kv, want := range map[string]bool{
		"OPENAI_API_KEY=server": false, "MINE=server": false, "MINE=k": false, "TEAM=server": false,
		"ANTHROPIC_API_KEY=k": false, "REMOVED=server": false, "REMOVED=": false, "OWN=1": true, "PLAIN=session": true,
	} {
		if slices.Contains(env, kv) != want {
			t.Errorf("%s is in the environment: %t", kv, !want)
		}
	}
}

package agents

import (
	"slices"
	"testing"

	"agentctl/server/agent"
	"agentctl/server/agent/llm"
	"agentctl/server/agent/llm/provider"
	"agentctl/server/agent/pipeline"
)

func TestKeysAreTheCredentialsOfAnAgent(t *testing.T) {
	r := &Registry{
		Configured: map[string]Config{
			"mine":    {Command: "/opt/bin/claude-agent-acp"},
			"other":   {Command: "other"},
			"model":   {Config: llm.Config{Model: "corp/x"}},
			"crew":    {Pipeline: &pipeline.Config{Planner: "claude", Solver: "codex"}},
			"scripts": {Script: "x"},
		},
		Providers: Providers{"corp": provider.Config{KeyEnv: "CORP_KEY"}},
		Default:   "codex",
	}
	claude := []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"}
	codex := []string{"CODEX_API_KEY", "OPENAI_API_KEY"}
	for name, want := range map[string][]string{
		"mine": claude, "acp:claude-agent-acp --debug": claude, "": codex, "other": nil, "scripts": nil, "script:x": nil,
		"crew": slices.Sorted(slices.Values(slices.Concat(claude, codex))),
	} {
		if got := r.Keys(name); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
	for _, name := range []string{"model", LLM, "llm:anthropic/x"} {
		got := r.Keys(name)
		for _, want := range []string{"CORP_KEY", "ANTHROPIC_API_KEY"} {
			if !slices.Contains(got, want) {
				t.Errorf("%s: no %s in %v", name, want, got)
			}
		}
		if slices.Contains(got, "") {
			t.Errorf("%s: an empty name", name)
		}
	}
}

func TestASessionOfAnAgentDoesNotChangeTheConfiguration(t *testing.T) {
	r := &Registry{Configured: map[string]Config{"mine": {Env: map[string]string{"URL": "configured"}}}}
	for parent, want := range map[string]string{"": "session", "s_1": "configured"} {
		spec := agent.Spec{Parent: parent, Env: map[string]string{"URL": "session", "KEY": "k"}}
		if env := r.variables("mine", &spec); env["URL"] != want || env["KEY"] != "k" {
			t.Errorf("parent %q: %v", parent, env)
		}
	}
}

// A key of the configuration and an address of a session do not meet, and a session that an agent creates has no
// address.
func TestAnAddressOfASessionGetsNoKeyOfTheConfiguration(t *testing.T) {
	address := "https://mine.example/v1"
	for name, c := range map[string]struct {
		parent     string
		configured map[string]string
		session    map[string]string
		want       string // the address
	}{
		"the session's own key":        {"", nil, map[string]string{"OPENAI_API_KEY": "k"}, address},
		"a configured key":             {"", map[string]string{"OPENAI_API_KEY": "c"}, nil, ""},
		"a configured key, not needed": {"", map[string]string{"OPENAI_API_KEY": "c"}, map[string]string{"OPENAI_API_KEY": "k"}, address},
		"a child":                      {"s_1", nil, map[string]string{"OPENAI_API_KEY": "k"}, ""},
	} {
		r := &Registry{Configured: map[string]Config{"mine": {Env: c.configured}}}
		spec := agent.Spec{Parent: c.parent, Env: map[string]string{"OPENAI_BASE_URL": address}}
		for k, v := range c.session {
			spec.Env[k] = v
		}
		variables := r.variables("mine", &spec)
		found, _ := r.Providers.WithAddresses(variables).Find("openai")
		if found.BaseURL != c.want {
			t.Errorf("%s: the address is %q, want %q", name, found.BaseURL, c.want)
		}
	}
}

package localagent

import (
	"maps"
	"os"
	"testing"
)

func TestASessionGetsTheVariablesOfItsAgentFromTheShell(t *testing.T) {
	for k, v := range map[string]string{
		"ANTHROPIC_API_KEY": "sk-ant-123", "ANTHROPIC_CUSTOM": "c", "OPENAI_API_KEY": "sk-123", "MY_KEY": "mine",
		"CORP_A": "a", "CORP_B": "b", "AGENTCTL_TOKEN": "token", "UNRELATED": "u",
	} {
		t.Setenv(k, v)
	}
	for _, name := range []string{"ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"} {
		t.Setenv(name, "")
	}
	m := Machine{Env: os.Getenv, PassEnv: []string{"MY_KEY", "CORP_*", "AGENTCTL_TOKEN"}}
	got := m.Environment("claude")
	for k := range got {
		if os.Getenv(k) == "" {
			delete(got, k) // removed on the server
		} else if got[k] != os.Getenv(k) {
			t.Errorf("%s=%s", k, got[k])
		}
	}
	want := map[string]string{
		"ANTHROPIC_API_KEY": "sk-ant-123", "ANTHROPIC_CUSTOM": "c", "MY_KEY": "mine", "CORP_A": "a", "CORP_B": "b",
	}
	for k := range want {
		if got[k] != want[k] {
			t.Errorf("%s is %q, want %q", k, got[k], want[k])
		}
	}
	for _, k := range []string{"OPENAI_API_KEY", "UNRELATED", "AGENTCTL_TOKEN", "PATH"} {
		if _, ok := got[k]; ok {
			t.Errorf("%s is passed", k)
		}
	}
	if v, ok := m.Environment("claude")["ANTHROPIC_AUTH_TOKEN"]; !ok || v != "" {
		t.Error("a variable that the shell lacks is not removed on the server")
	}
	if other := m.Environment("mine"); other["OPENAI_API_KEY"] != "sk-123" || other["ANTHROPIC_API_KEY"] == "" {
		t.Errorf("an agent of the server's configuration gets %v", maps.Keys(other))
	}
	m.Env = func(name string) string {
		return map[string]string{
			"AGENTCTL_SESSION": "s_1", "AGENTCTL_DATA": t.TempDir(), "ANTHROPIC_API_KEY": "sk-ant-123",
			"ANTHROPIC_BASE_URL": "https://example.com", "MY_KEY": "mine",
		}[name]
	}
	if env := m.Environment("claude"); !maps.Equal(env, map[string]string{"ANTHROPIC_API_KEY": "sk-ant-123"}) {
		t.Errorf("a session of an agent gets %v", env)
	}
	if env := m.Environment("script:x"); len(env) != 0 {
		t.Errorf("a script gets %v", env)
	}
}

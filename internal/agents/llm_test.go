package agents

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/llm"
	"agentctl/server/agent/llm/provider"
	"agentctl/server/policy"
)

// noKeys removes the keys that the environment of a test may have.
func noKeys(t *testing.T) {
	t.Helper()
	for _, name := range []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"} {
		t.Setenv(name, "")
	}
}

func TestTheAgentLLMTakesTheFirstProviderWithAKey(t *testing.T) {
	noKeys(t)
	r := &Registry{}
	if _, err := r.Open(agent.Spec{Agent: LLM}, nil); protocol.CodeOf(err) != protocol.CodeAgentAuth ||
		!strings.Contains(err.Error(), "ANTHROPIC_API_KEY") {
		t.Errorf("without a key: %v", err)
	}
	for name, want := range map[string]string{
		"OPENAI_API_KEY": "openai/", "ANTHROPIC_API_KEY": "anthropic/", "GEMINI_API_KEY": "google/",
	} {
		spec := agent.Spec{Agent: LLM, Env: map[string]string{name: "k"}}
		c, ok, err := r.model(LLM, provider.Environment(r.variables(LLM, &spec)))
		if err != nil || !ok || !strings.HasPrefix(c.Model, want) {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
		if _, err := r.Open(spec, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// turnHost is the host and the output of an agent that needs neither.
type turnHost struct {
	agent.Host
	agent.Output
	text string
}

func (h *turnHost) Emit(e agent.Event) error {
	if d, ok := e.Data.(protocol.PartDeltaData); ok {
		h.text += d.Text
	}
	return nil
}
func (h *turnHost) Save([]byte) error          { return nil }
func (h *turnHost) Sync(context.Context) error { return nil }
func (h *turnHost) Logf(string, ...any)        {}

func TestAConfiguredModelAnswers(t *testing.T) {
	noKeys(t)
	fake := fakemodel.New(fakemodel.Say("hello"))
	server := httptest.NewServer(fake)
	defer server.Close()
	r := &Registry{
		Providers: Providers{
			"mine": {API: provider.Chat, BaseURL: server.URL + "/v1", KeyCommand: []string{"echo", "k-1"}},
			"env": {
				API: provider.OpenAI, BaseURL: server.URL + "/v1", KeyEnv: "MINE",
				Headers: map[string]string{"X-Team": "${TEAM}"},
			},
		},
		Configured: map[string]Config{
			"coder": {Config: llm.Config{Model: "mine/m"}, Env: map[string]string{"TEAM": "t"}},
			"other": {Config: llm.Config{Model: "env/gpt"}, Env: map[string]string{"TEAM": "t", "MINE": "k-2"}},
		},
	}
	if err := r.CheckConfigured(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"coder", "other", "llm:mine/m2"} {
		host := &turnHost{}
		shell := map[string]string{"MINE": "", "OPENAI_API_KEY": ""} // lacks them
		a, err := r.Open(agent.Spec{Agent: name, Env: shell}, host)
		if err != nil {
			t.Fatal(err)
		}
		turn := agent.Turn{ID: "t", Message: protocol.Message{Text: "hi"}}
		end, err := a.Run(context.Background(), turn, host)
		if err != nil || end.Reason != protocol.ReasonCompleted || host.text != "hello" {
			t.Errorf("%s: %q, %+v, %v", name, host.text, end, err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	if r.Conversation(&agent.Spec{Agent: "coder", Load: "c"}) != "" || r.HasConversations("coder") {
		t.Error("an llm agent names a conversation")
	}
	if r.Conversation(&agent.Spec{Agent: "claude", Load: "c"}) == "" || !r.HasConversations("claude") {
		t.Error("an ACP agent names no conversation")
	}
}

func TestAModelThatAnAgentStartsAsks(t *testing.T) {
	noKeys(t)
	r := &Registry{Configured: map[string]Config{"coder": {Config: llm.Config{Model: "gpt-5.5", Policy: policy.Full}}}}
	for parent, allowed := range map[string]bool{"": true, "s_1": false} {
		spec := agent.Spec{Agent: "coder", Parent: parent, Env: map[string]string{"OPENAI_API_KEY": "k"}}
		a, err := r.Open(spec, &turnHost{})
		if err != nil {
			t.Fatal(err)
		}
		err = a.(agent.Configurer).Configure(t.Context(), policy.SettingID, string(policy.Full))
		if (err == nil) != allowed {
			t.Errorf("full in a session of %q: %v", parent, err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestTheReadinessOfAModelIsTold(t *testing.T) {
	env := map[string]string{}
	x := &Inspector{
		Registry: &Registry{
			Configured: map[string]Config{"coder": {Config: llm.Config{Model: "gpt-5.5"}}},
			Providers: Providers{
				"mine": {API: provider.Chat, BaseURL: "http://x", KeyCommand: []string{"/nowhere/key"}},
			},
		},
		Env: func(name string) string { return env[name] },
	}
	if r := x.Inspect("coder"); r.Login != LoginMissing || !r.Installed ||
		!strings.HasPrefix(r.LogIn, "OPENAI_API_KEY is not set: ") {
		t.Errorf("%+v", r)
	}
	env["OPENAI_API_KEY"] = "k"
	if r := x.Inspect("coder"); r.Login != LoginFound || r.LoginBy != "OPENAI_API_KEY" || r.Model != "gpt-5.5" {
		t.Errorf("%+v", r)
	}
	if r := x.Inspect("llm:mine/m"); r.Login != LoginMissing || !strings.Contains(r.LogIn, "/nowhere/key") {
		t.Errorf("%+v", r)
	}
	if r := x.Inspect("llm:ollama/m"); r.Login != LoginFound || r.LoginBy != "none needed" {
		t.Errorf("%+v", r)
	}
}

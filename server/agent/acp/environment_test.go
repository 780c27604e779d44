package acp

import (
	"slices"
	"strings"
	"testing"

	"agentctl/server/agent"
	"agentctl/server/agent/acp/catalog"
)

func TestTheEnvironmentOfASessionWinsAndRemovesVariables(t *testing.T) {
	t.Setenv("SERVER_KEY", "old")
	t.Setenv("OTHER_KEY", "old")
	t.Setenv("MODE", "server")
	a, err := New(Config{
		Command:  []string{"x"},
		Env:      map[string]string{"CONFIGURED": "c", "BOTH": "c"},
		Defaults: map[string]string{"MODE": "default", "QUIET": "1"},
	}, agent.Spec{Env: map[string]string{"SERVER_KEY": "new", "OTHER_KEY": "", "CONFIGURED": "", "BOTH": "s"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	env := a.config.Variables(&a.spec)
	for _, want := range []string{"SERVER_KEY=new", "CONFIGURED=c", "BOTH=s", "MODE=server", "QUIET=1"} {
		if !slices.Contains(env, want) {
			t.Errorf("no %s", want)
		}
	}
	for _, unwanted := range []string{"OTHER_KEY=old", "OTHER_KEY=", "SERVER_KEY=old"} {
		if slices.Contains(env, unwanted) {
			t.Errorf("has %s", unwanted)
		}
	}
}

func TestCodexStartsInTheModeThatAsks(t *testing.T) {
	c, err := Find("codex")
	if err != nil || c.Defaults["INITIAL_AGENT_MODE"] != "read-only" {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestQwenStartsInTheModeThatAsks(t *testing.T) {
	if c, err := Find("qwen"); err != nil || !slices.Equal(c.Command[2:], []string{"--approval-mode", "default"}) {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestPresetsSayHowToInstallThemAndLogIn(t *testing.T) {
	for _, p := range catalog.Presets() {
		if p.Title == "" || p.Install == "" || p.Login == "" {
			t.Errorf("%+v", p)
		}
	}
	measured := []string{"claude", "codex", "copilot", "gemini", "opencode", "qwen"}
	for _, name := range measured {
		if p, _ := FindPreset(name); !strings.HasPrefix(p.Decides, "starts in mode ") {
			t.Errorf("%s decides %q", name, p.Decides)
		}
	}
}

func TestFindPresetKnowsNamesAndPrograms(t *testing.T) {
	for agent, want := range map[string]string{
		"claude": "claude", "acp:claude-agent-acp --debug": "claude", "acp:/opt/bin/gemini --acp": "gemini",
		"acp:other": "", "mine": "", "": "",
	} {
		if p, ok := FindPreset(agent); p.Name != want || ok != (want != "") {
			t.Errorf("%q is preset %q, %t", agent, p.Name, ok)
		}
	}
}

func TestASessionOfAnAgentChangesNeitherDefaultsNorConfiguration(t *testing.T) {
	for parent, want := range map[string][]string{
		"": {"MODE=full", "URL=session"}, "s_1": {"MODE=ask", "URL=configured"},
	} {
		config := Config{
			Command: []string{"x"}, Defaults: map[string]string{"MODE": "ask"}, Env: map[string]string{"URL": "configured"},
		}
		env := map[string]string{"MODE": "full", "KEY": "k", "URL": "session"}
		a, err := New(config, agent.Spec{Parent: parent, Env: env}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range append(want, "KEY=k") {
			if !slices.Contains(a.config.Variables(&a.spec), want) {
				t.Errorf("parent %q: no %s", parent, want)
			}
		}
	}
}

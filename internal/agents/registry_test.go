package agents

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/acp/catalog"
)

func TestNamesListsConfiguredAgentsThenPresets(t *testing.T) {
	presets := (&Registry{}).Names()
	if len(presets) != len(catalog.Presets())+1 || presets[len(presets)-1] != LLM {
		t.Fatalf("presets: %v", presets)
	}
	r := &Registry{Configured: map[string]Config{
		"zed": {Command: "z"}, "mine": {Command: "x"},
		presets[0]: {Command: "y"},
	}}
	want := append(slices.Sorted(slices.Values([]string{"mine", "zed", presets[0]})), presets[1:]...)
	if got := r.Names(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestCheckAcceptsTheNamesThatOpenKnows(t *testing.T) {
	r := &Registry{Configured: map[string]Config{"mine": {Command: "x"}}}
	for name, want := range map[string]bool{
		"mine": true, catalog.Presets()[0].Name: true, "acp:my-agent --acp": true, "script:demo.script": true,
		"llm": true, "llm:claude-sonnet-5-5": true, "llm:ollama/qwen": true,
		"min": false, "acp:": false, "": false,
	} {
		err := r.Check(name)
		if (err == nil) != want {
			t.Errorf("%q: %v", name, err)
		}
		if err != nil && !strings.Contains(err.Error(), "want one of mine, ") {
			t.Errorf("%q: %v does not list the agents", name, err)
		}
	}
}

func TestOpenRefusesUnknownAgents(t *testing.T) {
	r := &Registry{Configured: map[string]Config{"broken": {Script: filepath.Join(t.TempDir(), "missing")}}}
	for _, name := range []string{"", "min", "acp:", "broken", "script:" + filepath.Join(t.TempDir(), "missing")} {
		if _, err := r.Open(agent.Spec{Agent: name}, nil); protocol.CodeOf(err) != protocol.CodeNoAgent {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestOpenRunsScriptsAndTheDefault(t *testing.T) {
	file := filepath.Join(t.TempDir(), "demo.script")
	if err := os.WriteFile(file, []byte(`{"on":"*"}`+"\n"+`{"say":"hi"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &Registry{Configured: map[string]Config{"demo": {Script: file}}, Default: "demo"}
	for _, name := range []string{"", "demo", ScriptScheme + file} {
		if agent, err := r.Open(agent.Spec{Agent: name}, nil); err != nil || agent == nil {
			t.Errorf("%q: %v, %v", name, agent, err)
		}
	}
}

// Reading a file of the server as a script would release the server's locks on it.
func TestNoFileOfTheServerIsAScript(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file, link := filepath.Join(dir, "data", "agentctl.db"), filepath.Join(dir, "link")
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(`{"on":"*"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, link} {
		spec := agent.Spec{Agent: ScriptScheme + name}
		if _, err := (&Registry{}).Open(spec, nil); err != nil {
			t.Fatal(err)
		}
		spec.OwnDirectories = []string{filepath.Dir(file)}
		_, err := (&Registry{}).Open(spec, nil)
		if protocol.CodeOf(err) != protocol.CodeNoAgent || !strings.Contains(err.Error(), "file of agentctl's server") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestASessionWithASandboxNeedsAHostThatConfines(t *testing.T) {
	spec := agent.Spec{CWD: t.TempDir(), Sandbox: protocol.Sandbox{Mode: protocol.SandboxReadOnly}}
	for _, name := range []string{"claude", "acp:cat", "llm:openai/gpt-5.5"} {
		spec.Agent = name
		if _, err := (&Registry{}).Open(spec, nil); protocol.CodeOf(err) != protocol.CodeUnsupported {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package acp

import (
	"os"
	"testing"

	"agentctl/internal/dev/fakeacp"
	"agentctl/protocol"
	"agentctl/server/agent"
)

func TestAProbeTellsVersionAndLoginAndLeavesNoProcess(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for traits, want := range map[string]protocol.Code{"plain": "", "auth": protocol.CodeAgentAuth} {
		spec := agent.Spec{CWD: t.TempDir(), Env: map[string]string{
			fakeacp.EnvVar: traits, "GEMINI_API_KEY": "", "GORACE": "atexit_sleep_ms=0",
		}}
		p, err := Probe(t.Context(), Config{Name: "Fake", Command: []string{self}}, spec)
		if protocol.CodeOf(err) != want {
			t.Errorf("%s: %v", traits, err)
		}
		if p.Name != "Fake Agent" || p.Version != "1.2.3" || len(p.Methods) != 3 ||
			p.Methods[0].Description != "Run `fakeacp login`" {
			t.Errorf("%s: %+v", traits, p)
		}
	}
}

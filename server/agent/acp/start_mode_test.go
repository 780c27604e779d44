package acp

import (
	"testing"

	"agentctl/protocol"
)

// An agent that starts in a mode in which it decides itself asks users, until a user chooses that
// mode.
func TestASessionLeavesTheModeInWhichItsAgentDecides(t *testing.T) {
	r := newTestAgent(t, "auto,load")
	if r.run("option mode"); r.text() != "mode is default" {
		t.Errorf("the agent says %q", r.text())
	}
	options := r.data(protocol.AgentOptions)
	for i, o := range options {
		if s := o.(protocol.Options).Settings; len(s) != 1 || s[0].Value != "default" {
			t.Errorf("options %d: %+v", i, s)
		}
	}
	if err := r.Configure(t.Context(), "mode", "auto"); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	next := r.restart("auto,load")
	if next.run("say on"); next.data(protocol.AgentOptions)[0].(protocol.Options).Settings[0].Value != "auto" {
		t.Errorf("after a restart: %+v", next.data(protocol.AgentOptions))
	}
}

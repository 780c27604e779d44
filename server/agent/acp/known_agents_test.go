package acp

import (
	"testing"

	"agentctl/internal/dev/requestcases"
	"agentctl/server/policy"
)

// The reading tools of known agents are known, so that a policy allows them.
func TestReadingToolsOfKnownAgentsAreKnown(t *testing.T) {
	dir := t.TempDir()
	if err := requestcases.Prepare(dir); err != nil {
		t.Fatal(err)
	}
	k := policy.Classifier{Dir: dir, ReadTools: (&Agent{}).Capabilities().ReadTools}
	for _, c := range requestcases.Reads(dir) {
		a := c.Approval(dir)
		if call, _ := k.Classify(&a); call.Safe != c.Reads {
			t.Errorf("%s: safe: %t", c.Name, call.Safe)
		}
	}
}

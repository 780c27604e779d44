package session

import (
	"testing"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// A turn that its agent ends without a word after a denial ended by it, whoever denied.
func TestATurnThatADenialEndedHasTheReasonDenied(t *testing.T) {
	say := agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: "then not"}}
	for name, c := range map[string]struct {
		policy string
		deny   bool
		after  []agent.Event
		want   protocol.Reason
	}{
		"by a policy":              {"deny", false, nil, protocol.ReasonDenied},
		"by a policy, then a word": {"deny", false, []agent.Event{say}, protocol.ReasonCompleted},
		"by a user":                {"ask", true, nil, protocol.ReasonDenied},
		"by a user, then a word":   {"ask", true, []agent.Event{say}, protocol.ReasonCompleted},
		"not at all":               {"ask", false, nil, protocol.ReasonCompleted},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Config{}, func(t *testing.T, r *testHub) {
				id, _ := policyHub(t, r, c.policy)
				run := r.agents.run()
				run.emit(agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "before", Text: "I try"}})
				run.ask(protocol.Approval{Request: "r", Kind: protocol.ApproveCommand, Command: "rm -rf /"})
				r.waitIdle()
				if c.policy == "ask" {
					d := protocol.ApproveData{Request: "r", Decision: protocol.AllowOnce}
					if c.deny {
						d.Decision = protocol.Deny
					}
					must[protocol.ApproveResult](r, r.do(anna, newCommand(protocol.DoApprove, id, d)))
				}
				run.emit(c.after...)
				run.finish(agent.End{}, nil)
				r.waitIdle()
				if got := r.state(id).Last.Reason; got != c.want {
					t.Errorf("ended %s, want %s", got, c.want)
				}
			})
		})
	}
}

package session

import (
	"slices"
	"testing"

	"agentctl/internal/dev/requestcases"
	"agentctl/protocol"
)

// A rule made from a request matches the requests that run the same, now and later, and no other.
func TestARuleMatchesWhatRunsTheSameAndNothingElse(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		dir := t.TempDir()
		if err := requestcases.Prepare(dir); err != nil {
			t.Fatal(err)
		}
		id := must[protocol.CreateResult](
			r, r.do(anna, newCommand(protocol.DoCreate, "", protocol.CreateData{Agent: "fake", CWD: dir})),
		).Session
		r.send(id, "go")
		run := r.agents.run()
		cases := requestcases.All(dir)
		requests := make([]protocol.Approval, len(cases))
		for i := range cases {
			requests[i] = cases[i].Approval(dir)
		}
		rules := map[string]string{} // by group
		for i := range cases {
			c := &cases[i]
			run.ask(requests[i])
			r.waitIdle()
			pending := r.state(id).PendingApproval(requests[i].Request)
			if pending == nil {
				if rules[c.Group()] == "" {
					t.Errorf("%s: decided by the rule of another", c.Name)
				}
				continue
			}
			if c.Changes != "" && !slices.Equal(pending.Paths, []string{c.Changes}) {
				t.Errorf("%s: shown to change %q, want %s", c.Name, pending.Paths, c.Changes)
			}
			if pending.Offers(protocol.AllowAlways) != c.Rule {
				t.Errorf("%s: allow always is offered: %t", c.Name, !c.Rule)
			}
			if rules[c.Group()] != "" {
				t.Errorf("%s: not decided by the rule of %s", c.Name, c.Group())
			}
			if !c.Rule {
				decision := protocol.ApproveData{Request: pending.Request, Decision: protocol.AllowAlways}
				refused(r, r.do(bert, approve(id, decision)), protocol.CodeUnsupported)
				decision.Decision = protocol.Deny
				must[protocol.ApproveResult](r, r.do(bert, approve(id, decision)))
				continue
			}
			result := must[protocol.ApproveResult](r, r.do(bert, approve(id, protocol.ApproveData{
				Request: pending.Request, Decision: protocol.AllowAlways,
			})))
			if result.Rule == nil {
				t.Fatalf("%s: no rule", c.Name)
			}
			rules[c.Group()] = result.Rule.ID
		}
		for i := range cases {
			c := &cases[i]
			again := requests[i]
			again.Request += "_again"
			run.ask(again)
			r.waitIdle()
			if asked := r.state(id).PendingApproval(again.Request) != nil; asked == c.Rule {
				t.Errorf("%s: asked again: %t", c.Name, asked)
			} else if asked {
				decision := protocol.ApproveData{Request: again.Request, Decision: protocol.Deny}
				must[protocol.ApproveResult](r, r.do(bert, approve(id, decision)))
			}
		}
		if len(cases) < 100 || len(rules) < 60 {
			t.Errorf("%d cases, %d rules", len(cases), len(rules))
		}
	})
}

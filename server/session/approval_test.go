package session

import (
	"testing"
	"testing/synctest"

	"agentctl/protocol"
)

func approve(session string, d protocol.ApproveData) protocol.Command {
	return command(protocol.DoApprove, session, d)
}

// asking starts a turn whose agent asks; it returns the session.
func asking(r *rig, requests ...protocol.Approval) string {
	id := r.create()
	r.send(id, "go")
	for _, a := range requests {
		r.agents.run().ask(a)
	}
	synctest.Wait()
	return id
}

func TestAnInterruptEndsWhatIsPendingAtOnce(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		r.agents.deaf = true
		id := asking(r, protocol.Approval{Request: "q", Kind: protocol.ApproveQuestion, Title: "?"})
		run := r.agents.run()
		r.do(anna, command(protocol.DoInterrupt, id, protocol.InterruptData{}))
		if v, ok := run.heard("q"); !ok || v.Outcome != protocol.Cancelled {
			t.Errorf("the agent heard %+v, %t", v, ok)
		}
		e := refused(r, r.do(bert, approve(id, protocol.ApproveData{Request: "q", Decision: protocol.AllowOnce})), protocol.CodeConflict)
		if e.Winner == nil || e.Winner.Outcome != protocol.Cancelled {
			t.Errorf("winner: %+v", e.Winner)
		}
		run.ask(protocol.Approval{Request: "late", Kind: protocol.ApproveQuestion, Title: "?"})
		r.settle()
		if v, ok := run.heard("late"); !ok || v.Outcome != protocol.Cancelled || len(r.state(id).Approvals) != 0 {
			t.Errorf("asked after the interrupt: %+v, %t", v, ok)
		}
	})
}

func TestEveryOptionShownCanBeTaken(t *testing.T) {
	always := protocol.Option{ID: "a", Kind: protocol.AllowAlways}
	for _, c := range []struct {
		name string
		ask  protocol.Approval
		want []string
	}{
		{"a question cannot be allowed always", protocol.Approval{Kind: protocol.ApproveQuestion, Options: []protocol.Option{always}},
			[]string{"allow_once", "deny", "deny_stop", "explain"}},
		{"the agent's options keep their ids", protocol.Approval{Kind: protocol.ApproveTool, Name: "rm", Options: []protocol.Option{always}},
			[]string{"a", "allow_once", "deny", "deny_stop", "explain"}},
		{"no two options have one id", protocol.Approval{
			Kind: protocol.ApproveQuestion, Options: []protocol.Option{{ID: "deny", Kind: protocol.AllowOnce}, {ID: "deny", Kind: protocol.AllowOnce}},
		}, []string{"deny", "session_deny", "deny_stop", "explain"}},
		{"what stands for no decision is not shown", protocol.Approval{Kind: protocol.ApproveQuestion, Options: []protocol.Option{{ID: "x", Kind: "maybe"}}},
			[]string{"allow_once", "deny", "deny_stop", "explain"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, Config{}, func(t *testing.T, r *rig) {
				c.ask.Request = "q"
				id := asking(r, c.ask)
				p := r.state(id).Pending("q")
				if p == nil || len(p.Options) != len(c.want) {
					t.Fatalf("options: %+v", p)
				}
				for i, o := range p.Options {
					if o.ID != c.want[i] || o.Kind == protocol.AllowAlways && o.Scope == "" {
						t.Errorf("option %d: %+v, want %s", i, o, c.want[i])
					}
				}
			})
		})
	}
}

func TestEverybodyWhoAsksUnderOneIDHearsTheVerdict(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		q := protocol.Approval{Request: "q", Kind: protocol.ApproveQuestion, Title: "?"}
		id := asking(r, q, q)
		must[protocol.ApproveResult](r, r.do(bert, approve(id, protocol.ApproveData{Decision: protocol.Deny})))
		r.agents.run().finish(End{}, nil) // returns once both have heard
		r.settle()
		if r.state(id).Turn != nil {
			t.Error("somebody who asked waits still")
		}
	})
}

func TestADecisionOfAnEarlierTurnDecidesNothingNow(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		q := protocol.Approval{Request: "q", Kind: protocol.ApproveQuestion, Title: "?"}
		id := asking(r, q)
		must[protocol.ApproveResult](r, r.do(bert, approve(id, protocol.ApproveData{Decision: protocol.AllowOnce})))
		r.agents.run().finish(End{}, nil)
		synctest.Wait()
		r.send(id, "again")
		run := r.agents.run()
		run.ask(q)
		r.settle()
		if v, ok := run.heard("q"); ok {
			t.Fatalf("answered by the decision of the turn before: %+v", v)
		}
		if n := len(r.state(id).Approvals); n != 1 {
			t.Fatalf("%d requests pending", n)
		}
		must[protocol.ApproveResult](r, r.do(bert, approve(id, protocol.ApproveData{Decision: protocol.Deny})))
		if v, _ := run.heard("q"); v.Outcome != protocol.Denied {
			t.Errorf("heard %+v", v)
		}
	})
}

func TestWhatTheStoreCannotTellIsNotAskedAgain(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		id := asking(r)
		r.store.set(func() { r.store.failRead = func() error { return ErrCorrupt } })
		run := r.agents.run()
		run.ask(protocol.Approval{Request: "q", Kind: protocol.ApproveQuestion, Title: "?"})
		r.settle()
		r.store.set(func() { r.store.failRead = nil })
		if v, ok := run.heard("q"); !ok || v.Outcome != protocol.Denied || len(r.state(id).Approvals) != 0 {
			t.Errorf("heard %+v, %t", v, ok)
		}
	})
}

package e2e

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"agentctl/dialect"
	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/wsclient"
)

// subAgentWork says a text, asks, and says another text after the decision. It waits for next before each.
func subAgentWork(next <-chan struct{}) agent.Work {
	say := func(out agent.Output, text string) {
		<-next
		_ = out.Emit(agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: text}})
	}
	return agent.Work{Text: "count", Run: func(ctx context.Context, _ agent.Turn, out agent.Output) (agent.End, error) {
		say(out, "one ")
		<-next
		v, err := out.Ask(ctx, protocol.Approval{Request: "q", Kind: protocol.ApproveCommand, Command: "ls"})
		say(out, string(v.Outcome))
		return agent.End{}, err
	}}
}

// Clients of every dialect see a sub-agent live and after a late attach. Of two decisions, one in its
// session and one in its parent's, one wins.
func TestASubAgentIsSeenLiveAndLateInEveryDialect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(t, `{"on":"*"}`, `{"say":"hi"}`)
		ann, bob := w.client("ann"), w.client("bob")
		root := w.create(ann)
		host, err := w.agents.host(root).SubAgent(agent.SubAgent{ID: "a"}, "Counter")
		if err != nil {
			t.Fatal(err)
		}
		sub := host.Session()
		var followers []*follower
		attach := func(names ...string) {
			for _, name := range names {
				followers = append(followers, follow(t, name, w.dialectClient(name, sub), sub))
			}
		}
		attach(append(dialect.Names(), native)...)
		parent := follow(t, native, ann, root)
		late := []string{native, "effectiveagent", "myagent", "sandcastle"} // the others have no past
		next := make(chan struct{})
		if err := host.Begin(t.Context(), subAgentWork(next)); err != nil {
			t.Fatal(err)
		}
		next <- struct{}{}
		for _, s := range followers {
			s.waitFor(protocol.TextDelta)
		}
		attach(late...) // in mid-turn
		next <- struct{}{}
		for _, s := range followers {
			s.waitFor(protocol.ApprovalRequested)
		}
		request := parent.waitFor(protocol.ApprovalRequested)
		synctest.Wait()
		attach(late...) // while the request is pending
		for _, s := range followers {
			if a := s.state.Approvals; len(a) != 1 || a[0].Command != "ls" {
				t.Errorf("%s shows the requests %+v", s.dialect, a)
			}
		}
		var asked protocol.Approval
		_ = request.Decode(&asked)
		var decided []<-chan error
		for session, c := range map[string]*wsclient.Client{root: ann, sub: bob} {
			decided = append(decided, async(func() error {
				_, err := wsclient.Call[protocol.ApproveResult](t.Context(), c, protocol.DoApprove, session,
					protocol.ApproveData{Request: asked.Request, Decision: protocol.AllowOnce})
				return err
			}))
		}
		codes := []protocol.Code{protocol.CodeOf(<-decided[0]), protocol.CodeOf(<-decided[1])}
		if slices.Sort(codes); codes[0] != "" || codes[1] != protocol.CodeConflict {
			t.Errorf("decided: %q", codes)
		}
		parent.waitFor(protocol.ApprovalResolved)
		next <- struct{}{}
		for _, s := range followers {
			s.waitFor(protocol.TurnEnded)
		}
		attach(late...) // after the turn
		for _, s := range followers {
			if len(s.transcript.Turns) == 0 { // the dialect has no history
				continue
			}
			if got := s.agentText(); got != "one allowed" || len(s.state.Approvals) > 0 {
				t.Errorf("%s shows %q, and the requests %+v", s.dialect, got, s.state.Approvals)
			}
		}
	})
}

package session

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
)

func approve(session string, d protocol.ApproveData) protocol.Command {
	return newCommand(protocol.DoApprove, session, d)
}

// startAsking starts a turn whose agent makes requests, and returns the session.
func startAsking(r *testHub, requests ...protocol.Approval) string {
	id := r.create()
	r.send(id, "go")
	for _, a := range requests {
		r.agents.run().ask(a)
	}
	synctest.Wait()
	return id
}

func TestAnInterruptEndsWhatIsPendingAtOnce(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		r.agents.ignoresInterrupt = true
		id := startAsking(r, protocol.Approval{Request: "q", Kind: protocol.ApproveQuestion, Title: "?"})
		run := r.agents.run()
		r.do(anna, newCommand(protocol.DoInterrupt, id, protocol.InterruptData{}))
		if v, ok := run.verdict("q"); !ok || v.Outcome != protocol.Cancelled {
			t.Errorf("the agent received %+v, %t", v, ok)
		}
		e := refused(
			r,
			r.do(bert, approve(id, protocol.ApproveData{Request: "q", Decision: protocol.AllowOnce})),
			protocol.CodeConflict,
		)
		if e.Winner == nil || e.Winner.Outcome != protocol.Cancelled {
			t.Errorf("winner: %+v", e.Winner)
		}
		run.ask(protocol.Approval{Request: "late", Kind: protocol.ApproveQuestion, Title: "?"})
		r.waitIdle()
		if v, ok := run.verdict("late"); !ok || v.Outcome != protocol.Cancelled || len(r.state(id).Approvals) != 0 {
			t.Errorf("asked after the interrupt: %+v, %t", v, ok)
		}
	})
}

func TestWhatTheStoreCannotTellIsNotAskedAgain(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := startAsking(r)
		r.store.set(func() { r.store.failRead = func() error { return eventlog.ErrCorrupt } })
		run := r.agents.run()
		run.ask(protocol.Approval{Request: "q", Kind: protocol.ApproveQuestion, Title: "?"})
		r.waitIdle()
		r.store.set(func() { r.store.failRead = nil })
		if v, ok := run.verdict("q"); !ok || v.Outcome != protocol.Denied || len(r.state(id).Approvals) != 0 {
			t.Errorf("verdict %+v, %t", v, ok)
		}
	})
}

func TestARequestThatNobodyWaitsForIsNoLongerPending(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := startAsking(r)
		q := protocol.Approval{Request: "q", Kind: protocol.ApproveQuestion, Title: "?"}
		run := r.agents.run()
		first, giveUp := context.WithCancel(t.Context())
		second, giveUpToo := context.WithCancel(t.Context())
		run.askUntil(first, q)
		run.askUntil(second, q)
		r.waitIdle()
		giveUp()
		r.waitIdle()
		if len(r.state(id).Approvals) != 1 {
			t.Error("canceled although a waiter remains")
		}
		giveUpToo()
		r.waitIdle()
		if len(r.state(id).Approvals) != 0 {
			t.Error("pending without a waiter")
		}
		e := refused(
			r,
			r.do(bert, approve(id, protocol.ApproveData{Request: "q", Decision: protocol.AllowOnce})),
			protocol.CodeConflict,
		)
		if e.Winner.Outcome != protocol.Cancelled {
			t.Errorf("winner %+v", e.Winner)
		}
	})
}

func TestARequestExpiresAlsoOverARestart(t *testing.T) {
	bubble(t, Config{ApprovalTimeout: time.Minute}, func(t *testing.T, r *testHub) {
		r.agents.capabilities = agent.Capabilities{Resumes: true}
		q := protocol.Approval{Request: "q", Kind: protocol.ApproveQuestion, Title: "?"}
		id := startAsking(r, q)
		time.Sleep(50 * time.Second)
		r.restart()
		run := r.agents.run()
		run.ask(q)
		time.Sleep(9 * time.Second)
		if _, ok := run.verdict("q"); ok || r.state(id).Status() != protocol.Waiting {
			t.Fatal("expired too early")
		}
		time.Sleep(2 * time.Second)
		r.waitIdle()
		if v, ok := run.verdict("q"); !ok || v.Outcome != protocol.Expired || v.Decision != "" {
			t.Errorf("the agent received %+v, %t", v, ok)
		}
		e := refused(
			r,
			r.do(anna, approve(id, protocol.ApproveData{Request: "q", Decision: protocol.AllowOnce})),
			protocol.CodeConflict,
		)
		if e.Winner.Outcome != protocol.Expired {
			t.Errorf("winner %+v", e.Winner)
		}
	})
}

func TestARuleAnswersWhatIsEqualUntilItIsRevoked(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		r.agents.capabilities = agent.Capabilities{Resumes: true}
		run := func(request, command string) protocol.Approval {
			return protocol.Approval{
				Request: request,
				Kind:    protocol.ApproveCommand,
				Title:   "run",
				Command: command,
				CWD:     "/src",
			}
		}
		elsewhere := run("4", "ls")
		elsewhere.CWD = "/etc"
		id := startAsking(r, run("1", "ls"), run("2", "ls"), run("3", "ls -l"), elsewhere)
		rule := must[protocol.ApproveResult](
			r,
			r.do(bert, approve(id, protocol.ApproveData{Request: "1", Decision: protocol.AllowAlways})),
		).Rule
		checkVerdicts := func(want map[string]bool) {
			t.Helper()
			r.waitIdle()
			for request, allowed := range want {
				v, ok := r.agents.run().verdict(request)
				if ok != allowed || ok && (v.Outcome != protocol.Allowed || *v.By != bert.By) {
					t.Errorf("request %s: verdict %+v, %t", request, v, ok)
				}
			}
		}
		checkVerdicts(map[string]bool{"1": true, "2": true, "3": false, "4": false})
		r.restart()
		r.agents.run().ask(run("5", "ls"))
		checkVerdicts(map[string]bool{"5": true})
		rules := must[protocol.RulesResult](r, r.do(anna, newCommand(protocol.DoRulesList, id, protocol.Empty{}))).Rules
		if len(rules) != 1 || rules[0].ID != rule.ID || rules[0].Scope == "" {
			t.Fatalf("rules: %+v", rules)
		}
		must[protocol.Empty](
			r,
			r.do(anna, newCommand(protocol.DoRulesRevoke, id, protocol.RulesRevokeData{Rule: rule.ID})),
		)
		r.agents.run().ask(run("6", "ls"))
		checkVerdicts(map[string]bool{"6": false})
		newLogChecker(t).apply(r.events(id, false))
	})
}

func TestTheWordsOfADecisionReachTheAgentEitherWay(t *testing.T) {
	for _, takes := range []bool{true, false} {
		bubble(t, Config{}, func(t *testing.T, r *testHub) {
			r.agents.capabilities, r.agents.ignoresInterrupt = agent.Capabilities{TakesReason: takes}, true
			id := startAsking(r, protocol.Approval{Request: "q", Kind: protocol.ApproveQuestion, Title: "?"})
			r.send(id, "later")
			run := r.agents.run()
			answers := &protocol.ApprovalInput{Answers: map[string][]string{"a": {"b"}}}
			must[protocol.ApproveResult](
				r,
				r.do(
					bert,
					approve(id, protocol.ApproveData{Decision: protocol.DenyStop, Reason: "not so", Input: answers}),
				),
			)
			if v, _ := run.verdict("q"); v.Reason != "not so" || v.Input.Answers["a"][0] != "b" ||
				v.Decision != protocol.DenyStop {
				t.Errorf("verdict %+v", v)
			}
			run.finish(agent.End{}, nil)
			r.waitIdle()
			st := r.state(id)
			if st.Turn != nil || st.Last.Reason != protocol.ReasonDenied || st.BlockingHold() == nil ||
				st.BlockingHold().Reason != protocol.HoldDenyStop {
				t.Fatalf("after deny_stop: %s", encodeState(st))
			}
			if next := st.Queue[0].Text; (next == "not so") == takes {
				t.Errorf("next message %q", next)
			}
			if first := st.Queue[0]; !takes && (first.By == nil || *first.By != bert.By || first.QueuedAt == nil) {
				t.Errorf("queued as %+v", first)
			}
		})
	}
}

// The package approval tests what input an agent takes.
func TestEditedInputIsForAgentsThatTakeIt(t *testing.T) {
	patch := protocol.Approval{Request: "q", Kind: protocol.ApprovePatch, Title: "p", Paths: []string{"a"}, Patch: "old"}
	command := protocol.Approval{Request: "q", Kind: protocol.ApproveCommand, Title: "p", Command: "old"}
	for _, c := range []struct {
		takes   agent.Capabilities
		request protocol.Approval
		input   protocol.ApprovalInput
		code    protocol.Code
	}{
		{agent.Capabilities{TakesPatch: true}, patch, protocol.ApprovalInput{Patch: "new"}, ""},
		{agent.Capabilities{TakesCommand: true}, patch, protocol.ApprovalInput{Patch: "new"}, protocol.CodeUnsupported},
		{agent.Capabilities{TakesCommand: true}, command, protocol.ApprovalInput{Command: "new"}, ""},
		{agent.Capabilities{TakesPatch: true}, command, protocol.ApprovalInput{Command: "new"}, protocol.CodeUnsupported},
	} {
		bubble(t, Config{}, func(t *testing.T, r *testHub) {
			r.agents.capabilities = c.takes
			id := startAsking(r, c.request)
			if got := r.state(id).Approvals[0].Editable; got != (c.code == "") {
				t.Errorf("%+v: editable: %t", c, got)
			}
			answer := r.do(anna, approve(id, protocol.ApproveData{
				Request: "q", Decision: protocol.AllowOnce, Input: &c.input,
			}))
			v, received := r.agents.run().verdict("q")
			if c.code != "" {
				refused(r, answer, c.code)
				if received || len(r.state(id).Approvals) != 1 {
					t.Errorf("%+v: verdict %+v, %t", c, v, received)
				}
				return
			}
			if !received || v.Input == nil || v.Input.Patch != c.input.Patch || v.Input.Command != c.input.Command {
				t.Errorf("%+v: verdict %+v, %t", c, v, received)
			}
		})
	}
}

// The package approval tests what a request is completed with.
func TestARequestAndItsDecisionAreRecorded(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		r.agents.capabilities = agent.Capabilities{TakesReason: true}
		dir := t.TempDir()
		id := must[protocol.CreateResult](
			r, r.do(anna, newCommand(protocol.DoCreate, "", protocol.CreateData{CWD: dir})),
		).Session
		r.send(id, "go")
		r.agents.run().ask(protocol.Approval{
			Request: "a", Kind: protocol.ApproveCommand, Title: "make", Command: "make", Task: "k",
		})
		r.waitIdle()
		if a := r.state(id).Approvals[0]; a.CWD != dir || a.Task != "k" || a.Turn == "" || a.Expires != nil ||
			time.Since(a.Asked) > time.Minute {
			t.Errorf("completed to %+v", a)
		}
		got := must[protocol.ApproveResult](r, r.do(bert, approve(id, protocol.ApproveData{
			Request: "a", Decision: protocol.AllowOnce, Reason: "s\xffo",
		})))
		if got.Outcome != protocol.Allowed {
			t.Errorf("answered %+v", got)
		}
		events := r.events(id, false)
		e := events[len(events)-1]
		var d protocol.ApprovalResolvedData
		if err := e.Decode(&d); err != nil || e.Type != protocol.ApprovalResolved || e.Task != "k" || e.By == nil ||
			*e.By != bert.By || e.Turn == "" || d.Reason != "s\uFFFDo" {
			t.Errorf("recorded %+v with %+v, %v", e, d, err)
		}
	})
}

func TestAnExplanationKeepsTheRequest(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := startAsking(r, protocol.Approval{Request: "q", Kind: protocol.ApproveQuestion, Title: "?", Task: "k"})
		explain := func() *testCall { return r.do(bert, approve(id, protocol.ApproveData{Decision: protocol.Explain})) }
		if got := must[protocol.ApproveResult](r, explain()); got.Request != "q" ||
			got.Decision != protocol.Explain || got.Outcome != "" {
			t.Errorf("answered %+v", got)
		}
		st := r.state(id)
		if len(st.Approvals) != 1 || !slices.Equal(st.Approvals[0].Explained, []string{"because"}) {
			t.Errorf("pending %+v", st.Approvals)
		}
		if _, ok := r.agents.run().verdict("q"); ok {
			t.Error("the agent was answered")
		}
		events := r.events(id, false)
		if last := events[len(events)-1]; last.Type != protocol.ApprovalExplained || last.By == nil ||
			last.By.Name != "bert" ||
			last.Turn != st.Turn.Turn {
			t.Errorf("recorded %s by %v", last.Type, last.By)
		}
		must[protocol.ApproveResult](r, r.do(bert, approve(id, protocol.ApproveData{Decision: protocol.Deny})))
		refused(
			r,
			r.do(anna, approve(id, protocol.ApproveData{Request: "q", Decision: protocol.Explain})),
			protocol.CodeConflict,
		)
	})
}

func TestEachRequestExpiresInItsOwnTime(t *testing.T) {
	bubble(t, Config{ApprovalTimeout: time.Hour}, func(t *testing.T, r *testHub) {
		id := startAsking(
			r,
			protocol.Approval{
				Request:         "a",
				Kind:            protocol.ApproveQuestion,
				Expires:         new(time.Now().Add(time.Minute)),
				ApprovalContext: protocol.ApprovalContext{Explained: []string{"no"}},
			},
		)
		time.Sleep(30 * time.Minute)
		r.agents.run().ask(protocol.Approval{Request: "b", Kind: protocol.ApproveQuestion})
		r.waitIdle()
		if st := r.state(id); len(st.Approvals) != 2 || len(st.Approvals[0].Explained) != 0 ||
			st.Approvals[1].Expires.Sub(*st.Approvals[0].Expires) != 30*time.Minute {
			t.Fatalf("pending %+v", st.Approvals)
		}
		time.Sleep(31 * time.Minute)
		r.waitIdle()
		if st := r.state(id); len(st.Approvals) != 1 || st.Approvals[0].Request != "b" {
			t.Errorf("after an hour: %+v", st.Approvals)
		}
		time.Sleep(30 * time.Minute)
		r.waitIdle()
		if st := r.state(id); len(st.Approvals) != 0 {
			t.Errorf("after the timeout: %+v", st.Approvals)
		}
	})
}

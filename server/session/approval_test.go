package session

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
	"agentctl/server/session/record"
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

func TestEverybodyWhoAsksUnderOneIDHearsTheVerdict(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		q := protocol.Approval{Request: "q", Kind: protocol.ApproveQuestion, Title: "?"}
		id := startAsking(r, q, q)
		must[protocol.ApproveResult](r, r.do(bert, approve(id, protocol.ApproveData{Decision: protocol.Deny})))
		if n := r.agents.run().waiting; n != 0 {
			t.Errorf("%d waiters left", n)
		}
	})
}

func TestADecisionOfAnEarlierTurnDecidesNothingNow(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		q := protocol.Approval{Request: "q", Kind: protocol.ApproveQuestion, Title: "?"}
		id := startAsking(r, q)
		must[protocol.ApproveResult](r, r.do(bert, approve(id, protocol.ApproveData{Decision: protocol.AllowOnce})))
		r.agents.run().finish(agent.End{}, nil)
		synctest.Wait()
		r.send(id, "again")
		run := r.agents.run()
		run.ask(q)
		r.waitIdle()
		if v, ok := run.verdict("q"); ok {
			t.Fatalf("answered with the decision of an earlier turn: %+v", v)
		}
		if as := r.state(id).Approvals; len(as) != 1 || as[0].Request == "q" {
			t.Fatalf("%+v pending under a decided id", as)
		}
		must[protocol.ApproveResult](r, r.do(bert, approve(id, protocol.ApproveData{Decision: protocol.Deny})))
		refused(
			r,
			r.do(bert, approve(id, protocol.ApproveData{Request: "q", Decision: protocol.Deny})),
			protocol.CodeConflict,
		)
		if v, _ := run.verdict("q"); v.Outcome != protocol.Denied {
			t.Errorf("verdict %+v", v)
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

func TestAnEditedPatchIsForAgentsThatTakeIt(t *testing.T) {
	for _, takes := range []bool{false, true} {
		bubble(t, Config{}, func(t *testing.T, r *testHub) {
			r.agents.capabilities.TakesPatch = takes
			id := startAsking(
				r,
				protocol.Approval{
					Request: "q",
					Kind:    protocol.ApprovePatch,
					Title:   "p",
					Paths:   []string{"a"},
					Patch:   "old",
				},
			)
			if got := r.state(id).Approvals[0].Editable; got != takes {
				t.Errorf("editable: %t", got)
			}
			answer := r.do(anna, approve(id, protocol.ApproveData{
				Request: "q", Decision: protocol.AllowOnce, Input: &protocol.ApprovalInput{Patch: "new"},
			}))
			v, received := r.agents.run().verdict("q")
			if !takes {
				refused(r, answer, protocol.CodeUnsupported)
				if received || len(r.state(id).Approvals) != 1 {
					t.Errorf("verdict %+v, %t", v, received)
				}
				return
			}
			if !received || v.Input == nil || v.Input.Patch != "new" {
				t.Errorf("verdict %+v, %t", v, received)
			}
		})
	}
}

func TestAnEditedCommandIsForAgentsThatTakeIt(t *testing.T) {
	once, always := protocol.AllowOnce, protocol.AllowAlways
	for _, test := range []struct {
		takes    bool
		kind     string
		decision protocol.Decision
		command  string
		code     protocol.Code
	}{
		{true, protocol.ApproveCommand, once, "new", ""},
		{true, protocol.ApproveCommand, always, "old", ""},
		{false, protocol.ApproveCommand, once, "old", ""},
		{false, protocol.ApproveCommand, once, "new", protocol.CodeUnsupported},
		{true, protocol.ApproveCommand, always, "new", protocol.CodeUnsupported},
		{true, protocol.ApproveTool, once, "new", protocol.CodeUnsupported},
	} {
		bubble(t, Config{}, func(t *testing.T, r *testHub) {
			r.agents.capabilities.TakesCommand = test.takes
			id := startAsking(r, protocol.Approval{Request: "q", Kind: test.kind, Title: "p", Command: "old"})
			if got := r.state(id).Approvals[0].Editable; got != (test.takes && test.kind == protocol.ApproveCommand) {
				t.Errorf("%+v: editable: %t", test, got)
			}
			answer := r.do(anna, approve(id, protocol.ApproveData{
				Request: "q", Decision: test.decision, Input: &protocol.ApprovalInput{Command: test.command},
			}))
			v, received := r.agents.run().verdict("q")
			if test.code != "" {
				refused(r, answer, test.code)
				if received || len(r.state(id).Approvals) != 1 {
					t.Errorf("%+v: verdict %+v, %t", test, v, received)
				}
				return
			}
			if !received || v.Input == nil || v.Input.Command != test.command {
				t.Errorf("%+v: verdict %+v, %t", test, v, received)
			}
		})
	}
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

func TestARequestIsCompletedWithWhatTheAgentLeftOut(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		dir := t.TempDir()
		id := must[protocol.CreateResult](
			r,
			r.do(anna, newCommand(protocol.DoCreate, "", protocol.CreateData{CWD: dir})),
		).Session
		r.send(id, "go")
		ask := func(a protocol.Approval) *protocol.Approval {
			r.agents.run().ask(a)
			r.waitIdle()
			st := r.state(id)
			return &st.Approvals[len(st.Approvals)-1]
		}
		a := ask(
			protocol.Approval{Request: "a", Kind: protocol.ApproveCommand, Title: "make", Command: "make", Task: "k"},
		)
		if a.CWD != dir || a.Task != "k" || a.Turn == "" || a.Expires != nil || time.Since(a.Asked) > time.Minute {
			t.Errorf("completed to %+v", a)
		}
		if i := slices.IndexFunc(
			a.Options,
			func(o protocol.Option) bool { return o.Kind == protocol.AllowAlways },
		); i < 0 ||
			a.Options[i].Label != "Always allow" ||
			a.Options[i].Scope != "exactly this command in "+dir+", in this session" {
			t.Errorf("options %+v", a.Options)
		}
		a = ask(
			protocol.Approval{
				Request: "b",
				Kind:    protocol.ApproveCommand,
				Title:   "make",
				Command: "make",
				CWD:     "/elsewhere",
			},
		)
		if a.CWD != "/elsewhere" {
			t.Errorf("working directory %s", a.CWD)
		}
		a = ask(protocol.Approval{Request: "c", Kind: protocol.ApproveQuestion, Title: "?", Options: []protocol.Option{
			{ID: "yes", Kind: protocol.AllowOnce, Label: "Yes"},
			{ID: "deny", Kind: protocol.AllowOnce, Label: "Not a denial"},
			{ID: "bad", Kind: "of tomorrow"},
			{ID: "ever", Kind: protocol.AllowAlways},
		}})
		var ids []string
		for _, o := range a.Options {
			ids = append(ids, o.ID+" "+string(o.Kind))
		}
		if want := []string{
			"yes allow_once",
			"deny allow_once",
			"session_deny deny",
			"deny_stop deny_stop",
			"explain explain",
		}; !slices.Equal(
			ids,
			want,
		) {
			t.Errorf("options %q, want %q", ids, want)
		}
		a = ask(protocol.Approval{Request: "d", Kind: protocol.ApproveQuestion, Title: "?"})
		if a.Options[0].Label != "Answer" || a.Options[0].Kind != protocol.AllowOnce || a.Options[1].Label != "Skip" ||
			a.Options[1].Kind != protocol.Deny {
			t.Errorf("options of a question: %+v", a.Options)
		}
		refused(r, r.do(bert, approve(id, protocol.ApproveData{Request: "c", Option: "ever"})), protocol.CodeNotFound)
		refused(
			r,
			r.do(bert, approve(id, protocol.ApproveData{Request: "c", Option: "yes", Decision: protocol.Deny})),
			protocol.CodeInvalidMessage,
		)
		refused(
			r,
			r.do(bert, approve(id, protocol.ApproveData{Request: "c", Decision: "perhaps"})),
			protocol.CodeInvalidMessage,
		)
		refused(r, r.do(bert, approve(id, protocol.ApproveData{Decision: protocol.AllowOnce})), protocol.CodeAmbiguous)
		refused(
			r,
			r.do(bert, approve(id, protocol.ApproveData{Request: "z", Decision: protocol.AllowOnce})),
			protocol.CodeNotFound,
		)
		long := strings.Repeat("x", record.LongText+1)
		if err := refused(
			r,
			r.do(bert, approve(id, protocol.ApproveData{Request: "c", Option: "yes", Reason: long})),
			protocol.CodeTooLarge,
		); err.Limit != record.LongText {
			t.Errorf("long reason: %+v", err)
		}
		huge := &protocol.ApprovalInput{Answers: map[string][]string{"a": {strings.Repeat("x", protocol.MaxEvent)}}}
		if err := refused(
			r,
			r.do(bert, approve(id, protocol.ApproveData{Request: "c", Option: "yes", Input: huge})),
			protocol.CodeTooLarge,
		); err.Limit == 0 ||
			err.Message == "" {
			t.Errorf("huge input: %+v", err)
		}
		if got := must[protocol.ApproveResult](
			r,
			r.do(bert, approve(id, protocol.ApproveData{Request: "c", Option: "session_deny"})),
		); got.Outcome != protocol.Denied {
			t.Errorf("denied: %+v", got)
		}
		events := r.events(id, false)
		if e := events[len(events)-1]; e.Type != protocol.ApprovalResolved || e.Task != "" || e.By == nil ||
			e.Turn == "" {
			t.Errorf("recorded %+v", e)
		}
		must[protocol.ApproveResult](
			r,
			r.do(bert, approve(id, protocol.ApproveData{Request: "a", Decision: protocol.AllowOnce, Reason: "s\xffo"})),
		)
		for _, e := range r.events(id, false) {
			var d protocol.ApprovalResolvedData
			if _ = e.Decode(&d); e.Type == protocol.ApprovalResolved && d.Request == "a" &&
				(e.Task != "k" || d.Reason != "s\uFFFDo") {
				t.Errorf("recorded for %q with %q", e.Task, d.Reason)
			}
		}
		if err := refused(
			r,
			r.do(anna, approve(id, protocol.ApproveData{Request: "a", Decision: protocol.Deny})),
			protocol.CodeConflict,
		); err.Message != "already allowed by bert" {
			t.Errorf("late decision: %s", err.Message)
		}
		if v, _ := r.agents.run().verdict("c"); v.Option != "" || v.By == nil || v.By.Name != "bert" {
			t.Errorf("verdict %+v", v)
		}
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

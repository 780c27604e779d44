package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/internal/dev/thorough"
	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
)

// A testSubAgent is a sub-agent whose work the test controls.
type testSubAgent struct {
	*fakeAgent
	r    *testHub
	host agent.SubAgentHost
	id   string // of its session
}

// subAgent opens a sub-agent of the agent that was opened last.
func (r *testHub) subAgent(id string) *testSubAgent {
	r.t.Helper()
	return r.subAgentOf(r.agents.last().host.(agent.WorkHost), id)
}

// subAgentOf opens a sub-agent below the session of a host.
func (r *testHub) subAgentOf(parent interface {
	SubAgent(agent.SubAgent, string) (agent.SubAgentHost, error)
}, id string,
) *testSubAgent {
	r.t.Helper()
	host, err := parent.SubAgent(agent.SubAgent{ID: id, Reads: []string{"Look"}}, "Title of "+id)
	if err != nil {
		r.t.Fatalf("open %s: %v", id, err)
	}
	r.waitIdle()
	return &testSubAgent{&fakeAgent{all: r.agents, closed: make(chan struct{})}, r, host, host.Session()}
}

// works begins work of the sub-agent and returns its run.
func (c *testSubAgent) works(text string) *fakeRun {
	c.r.t.Helper()
	if err := c.host.Begin(context.Background(), c.work(text)); err != nil {
		c.r.t.Fatalf("begin: %v", err)
	}
	c.r.waitIdle()
	c.all.mu.Lock()
	defer c.all.mu.Unlock()
	return c.now
}

func TestASubAgentHasASessionBelowItsParent(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		c := r.subAgent("a")
		run := c.works("count the files")
		run.emit(agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: "three"}})
		r.waitIdle()
		st := r.state(c.id)
		if st.Parent != id || !st.SubAgent || st.Title != "Title of a" || st.Agent != "fake" || st.Turn == nil ||
			st.Turn.Message.Text != "count the files" || st.Turn.Message.By.AgentSession() != id {
			t.Errorf("state %+v", st)
		}
		if r.state(id).Status() != protocol.Idle {
			t.Error("the parent works")
		}
		sum, ok := r.hub.Sessions().Summary(c.id)
		if !ok || sum.Parent != id || !sum.SubAgent || sum.Status != protocol.Running {
			t.Errorf("listed %+v", sum)
		}
		for verb, data := range map[protocol.Verb]any{
			protocol.DoSend:      protocol.SendData{Text: "hi"},
			protocol.DoConfigure: protocol.ConfigureData{Setting: "policy", Value: "full"},
			protocol.DoCompact:   protocol.Empty{},
			protocol.DoUndo:      protocol.Empty{},
			protocol.DoRetry:     protocol.Empty{},
			protocol.DoFork:      protocol.ForkData{},
		} {
			refused(r, r.do(anna, newCommand(verb, c.id, data)), protocol.CodeUnsupported)
		}
		run.finish(agent.End{}, nil)
		r.waitIdle()
		again := r.subAgent("a") // a later process of the agent
		if again.id != c.id {
			t.Errorf("another session %s", again.id)
		}
		again.works("once more").finish(agent.End{}, nil)
		r.waitIdle()
		if st := r.state(c.id); st.Turns != 2 || st.Turn != nil {
			t.Errorf("in the end %+v", st)
		}
	})
}

func TestASubAgentIsConfinedAsItsParent(t *testing.T) {
	for _, sandbox := range []protocol.Sandbox{{Mode: protocol.SandboxRemote}, {Mode: protocol.SandboxReadOnly}} {
		bubble(t, Config{System: System{Confine: (&sandboxes{}).confine}}, func(t *testing.T, r *testHub) {
			r.agents.capable = func(context.Context, string) error { return nil }
			if r.agents.elsewhere = "fake"; sandbox.Mode != protocol.SandboxRemote {
				r.agents.elsewhere, r.agents.sandboxes = "", map[string]protocol.Sandbox{"fake": sandbox}
			}
			id := sessionsWithSubAgents(r)
			fork := must[protocol.CreateResult](r, r.do(anna, newCommand(protocol.DoFork, id, protocol.ForkData{}))).Session
			for _, session := range append(r.hub.subAgents.Below(id), r.hub.subAgents.Below(fork)...) {
				if got := r.state(session).Sandbox; got.Mode != sandbox.Mode {
					t.Errorf("a sub-agent in the sandbox %q of a session in %q", got, sandbox)
				}
			}
		})
	}
}

func TestARequestOfASubAgentIsDecidedOnceInEitherSession(t *testing.T) {
	for _, childFirst := range []bool{true, false} {
		bubble(t, Config{}, func(t *testing.T, r *testHub) {
			id := r.create()
			r.send(id, "go")
			parent := r.agents.run()
			c := r.subAgent("a")
			run := c.works("count")
			run.ask(protocol.Approval{Request: "q", Kind: protocol.ApproveCommand, Command: "ls -l", Tool: "t/1"})
			r.waitIdle()
			for session, tool := range map[string]string{id: "", c.id: "t/1"} { // the call is the sub-agent's
				st := r.state(session)
				if len(st.Approvals) != 1 || st.Status() != protocol.Waiting {
					t.Fatalf("%s: %+v", session, st.Approvals)
				}
				a := st.Approvals[0]
				if a.SubAgent == nil || a.SubAgent.Session != c.id || a.SubAgent.Title != "Title of a" || a.Command != "ls -l" || a.Tool != tool {
					t.Errorf("%s: %+v", session, a)
				}
			}
			parent.finish(agent.End{}, nil) // the sub-agent outlasts the turn
			r.waitIdle()
			if st := r.state(id); st.Status() != protocol.Waiting || st.Turn != nil || len(st.Approvals) != 1 {
				t.Fatalf("after the turn: %+v", st)
			}
			first, second := id, c.id
			if childFirst {
				first, second = c.id, id
			}
			request := r.state(id).Approvals[0].Request
			one := r.start(anna, approve(first, protocol.ApproveData{Request: request, Decision: protocol.AllowOnce}))
			two := r.start(bert, approve(second, protocol.ApproveData{Request: request, Decision: protocol.Deny}))
			r.waitIdle()
			won, lost := one, two
			if one.err != nil {
				won, lost = two, one
			}
			must[protocol.ApproveResult](r, won)
			if winner := refused(r, lost, protocol.CodeConflict).Winner; winner == nil || winner.By.Name != won.who.By.Name {
				t.Errorf("winner %+v", winner)
			}
			v, ok := run.verdict("q")
			if !ok || (v.Outcome == protocol.Allowed) != (won == one) || v.By.Name != won.who.By.Name {
				t.Errorf("verdict %+v", v)
			}
			for _, session := range []string{id, c.id} {
				if st := r.state(session); len(st.Approvals) != 0 {
					t.Errorf("still pending in %s", session)
				}
				n := 0
				for _, e := range r.events(session, false) {
					if e.Type == protocol.ApprovalResolved {
						n++
						if e.By.Name != won.who.By.Name {
							t.Errorf("%s resolved by %+v", session, e.By)
						}
					}
				}
				if n != 1 {
					t.Errorf("%s: %d resolutions", session, n)
				}
			}
			run.finish(agent.End{}, nil)
			r.waitIdle()
		})
	}
}

func TestTheOnlyRequestOfASubAgentNeedsNoName(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		a, b := r.subAgent("a"), r.subAgent("b")
		asking := a.works("x")
		asking.ask(protocol.Approval{Request: "q", Kind: protocol.ApproveCommand, Command: "ls"})
		b.works("y").ask(protocol.Approval{Request: "q", Kind: protocol.ApproveCommand, Command: "rm"})
		r.waitIdle()
		refused(r, r.do(anna, approve(id, protocol.ApproveData{Decision: protocol.AllowOnce})), protocol.CodeAmbiguous)
		must[protocol.ApproveResult](r, r.do(anna, approve(a.id, protocol.ApproveData{Decision: protocol.AllowOnce})))
		if _, ok := asking.verdict("q"); !ok || len(r.state(id).Approvals) != 1 {
			t.Error("not decided")
		}
		refused(r, r.do(anna, approve(a.id, protocol.ApproveData{Decision: protocol.AllowOnce})), protocol.CodeNotFound)
	})
}

// A question of a sub-agent has its page and its secrets in both sessions as any other.
func TestAQuestionOfASubAgentKeepsItsSecrets(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		c := r.subAgent("a")
		run := c.works("log in")
		run.ask(protocol.Approval{
			Request: "q", Kind: protocol.ApproveQuestion, Title: "?", Page: &protocol.Page{
				URL: "https://a.example/b?s3cret",
			},
			Questions: []protocol.Question{{ID: "pw", Text: "Password", Field: protocol.Field{Secret: true}}},
		})
		r.waitIdle()
		request := r.state(id).Approvals[0].Request
		for session, named := range map[string]string{id: request, c.id: ""} {
			page := must[protocol.OpenPageResult](
				r, r.do(anna, newCommand(protocol.DoOpenPage, session, protocol.OpenPageData{Request: named})),
			)
			if page.PageURL != "https://a.example/b?s3cret" || page.Request != request {
				t.Errorf("%s: %+v", session, page)
			}
		}
		must[protocol.ApproveResult](r, r.do(anna, approve(c.id, protocol.ApproveData{
			Decision: protocol.AllowOnce, Input: &protocol.ApprovalInput{
				Secrets: map[string][]string{"pw": {"hunter2"}},
			},
		})))
		if v, ok := run.verdict("q"); !ok || v.Input.Answers["pw"][0] != "hunter2" {
			t.Errorf("verdict %+v", v)
		}
		for _, session := range []string{id, c.id} {
			for _, e := range r.events(session, false) {
				if strings.Contains(string(e.Data), "hunter2") || strings.Contains(string(e.Data), "s3cret") {
					t.Errorf("%s has %s", session, e.Data)
				}
			}
		}
		refused(r, r.do(anna, newCommand(protocol.DoOpenPage, c.id, protocol.OpenPageData{})), protocol.CodeNotFound)
	})
}

func TestRulesAndThePolicyOfTheRootDecideForSubAgents(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		a, b := r.subAgent("a"), r.subAgent("b")
		deep := r.subAgentOf(b.host, "deep")
		request := protocol.Approval{Request: "q", Kind: protocol.ApproveCommand, Command: "make", CWD: "/w"}
		a.works("x").ask(request)
		r.waitIdle()
		got := must[protocol.ApproveResult](
			r, r.do(anna, approve(a.id, protocol.ApproveData{Decision: protocol.AllowAlways})),
		)
		if got.Rule == nil || len(r.state(id).Rules) != 1 || len(r.state(a.id).Rules) != 0 {
			t.Fatalf("rule %+v, root has %+v", got.Rule, r.state(id).Rules)
		}
		run := deep.works("y")
		run.ask(request)
		r.waitIdle()
		if v, ok := run.verdict("q"); !ok || v.Outcome != protocol.Allowed {
			t.Errorf("by the rule: %+v", v)
		}
		if rules := must[protocol.RulesResult](r, r.do(anna, newCommand(protocol.DoRulesList, deep.id, protocol.Empty{}))).Rules; len(rules) != 1 {
			t.Errorf("rules of a sub-agent %+v", rules)
		}
		r.do(anna, newCommand(protocol.DoRulesRevoke, deep.id, protocol.RulesRevokeData{Rule: got.Rule.ID}))
		must[protocol.Empty](
			r,
			r.do(anna, newCommand(protocol.DoConfigure, id, protocol.ConfigureData{Setting: "policy", Value: "deny"})),
		)
		request.Request = "later"
		run.ask(request)
		r.waitIdle()
		if v, ok := run.verdict("later"); !ok || v.Outcome != protocol.Denied {
			t.Errorf("by the policy: %+v", v)
		}
		var last protocol.ApprovalResolvedData
		for _, e := range r.events(deep.id, false) {
			if e.Type == protocol.ApprovalResolved {
				_ = e.Decode(&last)
			}
		}
		if last.ByPolicy != "deny" {
			t.Errorf("the sub-agent has %+v", last)
		}
	})
}

func TestARequestOfASubAgentEndsWithItsTurn(t *testing.T) {
	for name, end := range map[string]func(r *testHub, id string, c *testSubAgent, run *fakeRun){
		"interrupted": func(r *testHub, _ string, c *testSubAgent, _ *fakeRun) {
			must[protocol.InterruptResult](
				r, r.do(anna, newCommand(protocol.DoInterrupt, c.id, protocol.InterruptData{})),
			)
		},
		"ended": func(_ *testHub, _ string, _ *testSubAgent, run *fakeRun) { run.finish(agent.End{}, nil) },
		"denied, stopped": func(r *testHub, id string, _ *testSubAgent, _ *fakeRun) {
			r.do(anna, approve(id, protocol.ApproveData{Decision: protocol.DenyStop}))
		},
		"expired": func(*testHub, string, *testSubAgent, *fakeRun) { time.Sleep(2 * time.Minute) },
		"parent closed": func(r *testHub, id string, _ *testSubAgent, _ *fakeRun) {
			must[protocol.CloseResult](r, r.do(anna, newCommand(protocol.DoClose, id, protocol.CloseData{})))
		},
		"server killed": func(r *testHub, _ string, _ *testSubAgent, _ *fakeRun) { r.kill() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Config{ApprovalTimeout: time.Minute}, func(t *testing.T, r *testHub) {
				id := r.create()
				c := r.subAgent("a")
				run := c.works("x")
				run.ask(protocol.Approval{Request: "q", Kind: protocol.ApproveCommand, Command: "ls"})
				r.waitIdle()
				end(r, id, c, run)
				r.waitIdle()
				for _, session := range []string{id, c.id} {
					if st := r.state(session); len(st.Approvals) > 0 || st.Turn != nil && name != "expired" {
						t.Errorf("%s: %+v, %+v", session, st.Approvals, st.Turn)
					}
				}
			})
		})
	}
}

func TestSubAgentsOfAKilledServerEndAsTheirParentDoes(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.send(id, "go")
		c := r.subAgent("a")
		c.works("x").emit(agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: "half"}})
		r.waitIdle()
		r.kill()
		for _, session := range []string{id, c.id} {
			st := r.state(session)
			if st.Turn != nil || st.Turns != 1 || st.Last.Code != protocol.CodeServerRestart {
				t.Errorf("%s: %+v", session, st.Last)
			}
		}
		text := ""
		for _, e := range r.events(c.id, true) {
			text += string(e.Data)
		}
		if !slices.Contains(types(r.events(c.id, false)), protocol.TextDelta) {
			t.Errorf("lost: %s", text)
		}
		r.send(id, "on")
		if again := r.subAgent("a"); again.id != c.id {
			t.Errorf("another session %s", again.id)
		} else {
			again.works("y").finish(agent.End{}, nil)
		}
		r.waitIdle()
		if st := r.state(c.id); st.Turns != 2 {
			t.Errorf("after it: %+v", st)
		}
	})
}

func TestSubAgentsFollowTheirParent(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		c := r.subAgent("a")
		deep := r.subAgentOf(c.host, "deep")
		deep.works("x")
		other := r.create()
		must[protocol.CloseResult](r, r.do(anna, newCommand(protocol.DoClose, id, protocol.CloseData{Reason: "done"})))
		for _, session := range []string{id, c.id, deep.id} {
			if st := r.state(session); !st.Closed || st.Turn != nil {
				t.Errorf("%s is open", session)
			}
		}
		if _, err := c.host.SubAgent(agent.SubAgent{ID: "new"}, ""); err == nil {
			t.Error("made below a closed session")
		}
		if err := c.host.Begin(t.Context(), c.work("")); protocol.CodeOf(err) != protocol.CodeSessionClosed {
			t.Errorf("begun in a closed session: %v", err)
		}
		must[protocol.CloseResult](r, r.do(anna, newCommand(protocol.DoClose, id, protocol.CloseData{Delete: true})))
		for _, session := range []string{id, c.id, deep.id} {
			if r.hub.Sessions().Exists(session) {
				t.Errorf("%s is left", session)
			}
		}
		if r.state(other).Closed || len(r.hub.subAgents.All()) != 0 {
			t.Error("another session was closed")
		}
	})
}

func TestASubAgentIsRemovedAlone(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		c := r.subAgent("a")
		must[protocol.CloseResult](r, r.do(anna, newCommand(protocol.DoClose, c.id, protocol.CloseData{Delete: true})))
		if r.hub.Sessions().Exists(c.id) || r.state(id).Closed {
			t.Error("not removed")
		}
		if err := c.host.Begin(t.Context(), c.work("")); protocol.CodeOf(err) != protocol.CodeNoSession {
			t.Errorf("begun in a removed session: %v", err)
		}
	})
}

func TestSubAgentsWithoutTheirParentAreRemovedAtTheStart(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		removed, closed := r.create(), r.create()
		of := func(session string) *testSubAgent {
			for _, a := range r.agents.opened {
				if a.spec.Session == session {
					return r.subAgentOf(a.host.(agent.WorkHost), "a")
				}
			}
			panic("no agent of " + session)
		}
		orphan, child := of(removed), of(closed)
		child.works("x")
		r.store.set(func() { // as if the server was killed between the commits
			delete(r.store.sessions, removed)
			r.store.order = slices.DeleteFunc(r.store.order, func(id string) bool { return id == removed })
		})
		r.store.failCommit = func(batches []*eventlog.Batch) error {
			for _, b := range batches {
				if b.Session == child.id {
					return errDead
				}
			}
			return nil
		}
		r.start(anna, newCommand(protocol.DoClose, closed, protocol.CloseData{}))
		r.waitIdle()
		r.store.set(func() { r.store.failCommit = nil })
		r.kill()
		if r.hub.Sessions().Exists(orphan.id) {
			t.Error("the orphan is left")
		}
		if st := r.state(child.id); !st.Closed {
			t.Error("the sub-agent of a closed session is open")
		}
	})
}

func TestAHostileAgentOpensNoMoreSubAgentsThanTheLimit(t *testing.T) {
	bubble(t, Config{Limits: Limits{SubAgents: 3}}, func(t *testing.T, r *testHub) {
		id := r.create()
		host := r.agents.last().host.(agent.WorkHost)
		var below agent.SubAgentHost
		made := 0
		for i := range 100 {
			parent := host.SubAgent
			if below != nil && i%2 == 0 {
				parent = below.SubAgent
			}
			c, err := parent(agent.SubAgent{ID: fmt.Sprint(i)}, "")
			if err == nil {
				below = c
				made++
			} else if protocol.CodeOf(err) != protocol.CodeSessionLimit {
				t.Fatal(err)
			}
		}
		if n := r.hub.Sessions().Len(); n != 4 || made != 3 {
			t.Errorf("%d sessions, %d made", n, made)
		}
		must[protocol.CloseResult](r, r.do(anna, newCommand(protocol.DoClose, id, protocol.CloseData{Delete: true})))
		if n := r.hub.Sessions().Len(); n != 0 {
			t.Errorf("%d sessions are left", n)
		}
	})
}

func TestAnIdleAgentStaysWhileASubAgentWorks(t *testing.T) {
	bubble(t, Config{AgentIdle: time.Minute}, func(t *testing.T, r *testHub) {
		r.agents.starter = &fakeStarter{restores: true}
		r.create()
		run := r.subAgent("a").works("x")
		time.Sleep(time.Hour)
		running := func() (n int) {
			r.agents.starter.set(func() { n = r.agents.starter.running })
			return n
		}
		if running() != 1 {
			t.Error("the agent was ended")
		}
		run.finish(agent.End{}, nil)
		time.Sleep(time.Hour)
		if running() != 0 {
			t.Error("the agent stays")
		}
	})
}

func TestAFailingStoreCancelsTheRequestsOfSubAgents(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		c := r.subAgent("a")
		run := c.works("x")
		run.ask(protocol.Approval{Request: "q", Kind: protocol.ApproveCommand, Command: "ls"})
		r.waitIdle()
		r.store.set(func() {
			r.store.failCommit = func(batches []*eventlog.Batch) error {
				if slices.ContainsFunc(batches, func(b *eventlog.Batch) bool { return b.Session == id }) {
					return errors.New("no")
				}
				return nil
			}
		})
		title := "new"
		r.do(anna, newCommand(protocol.DoRename, id, protocol.RenameData{Title: &title}))
		r.store.set(func() { r.store.failCommit = nil })
		time.Sleep(time.Minute)
		r.waitIdle()
		if v, ok := run.verdict("q"); !ok || v.Outcome != protocol.Cancelled {
			t.Errorf("verdict %+v", v)
		}
		if st := r.state(id); len(st.Approvals) != 0 || len(r.state(c.id).Approvals) != 0 {
			t.Errorf("pending %+v", st.Approvals)
		}
	})
}

// A server is killed after each commit while an agent and its sub-agent work.
func TestNoSubAgentOfAKilledServerIsLostOrDoubled(t *testing.T) {
	done := false
	for commits := 0; !done; commits++ {
		bubble(t, Config{}, func(t *testing.T, r *testHub) {
			id := r.create()
			host := r.agents.last().host.(agent.WorkHost)
			all := r.diesAfter(commits)
			r.start(anna, newCommand(protocol.DoSend, id, protocol.SendData{Text: "go"}))
			r.waitIdle()
			root := r.agents.run()
			shown, begun := "", false
			if c, err := host.SubAgent(agent.SubAgent{ID: "a"}, "Title"); err == nil && root != nil {
				shown = c.Session()
				of := &testSubAgent{&fakeAgent{all: r.agents, closed: make(chan struct{})}, r, c, shown}
				go func() { begun = c.Begin(t.Context(), of.work("count")) == nil }()
				r.waitIdle()
				r.agents.mu.Lock()
				run := of.now
				r.agents.mu.Unlock()
				if run != nil {
					root.emit(agent.Event{Type: protocol.ToolStarted, Data: protocol.ToolStartedData{Tool: "c", Session: shown}})
					run.emit(agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: "half"}})
					run.ask(protocol.Approval{Request: "q", Kind: protocol.ApproveCommand, Command: "ls"})
					r.waitIdle()
					done = len(r.state(id).Approvals) == 1 && all() <= commits
				}
			}
			r.kill()
			if exists := r.hub.Sessions().Exists(shown); shown != "" && !exists || len(r.hub.subAgents.All()) > 1 {
				t.Errorf("after %d commits: the sub-agent exists: %t", commits, exists)
			}
			for _, session := range append(r.hub.subAgents.Below(id), id) {
				newLogChecker(t).apply(r.events(session, false))
				st := r.state(session)
				if st.Turn != nil || len(st.Approvals) > 0 || st.Turns > 0 && st.Last.Code != protocol.CodeServerRestart {
					t.Errorf("after %d commits: %s: %+v, %+v", commits, session, st.Turn, st.Last)
				}
				if session != id && begun && st.Turns != 1 {
					t.Errorf("after %d commits: the work that had begun is lost", commits)
				}
			}
			r.send(id, "on")
			again := r.subAgent("a")
			again.works("count").finish(agent.End{}, nil)
			r.waitIdle()
			if n := r.hub.Sessions().Len(); n != 2 || shown != "" && again.id != shown {
				t.Errorf("after %d commits: %d sessions", commits, n)
			}
		})
	}
}

// Of a session with many sub-agents, a state, an attachment and a new sub-agent cost what they cost with
// few; the session is closed with all of them in few commits.
func TestASessionHasManySubAgents(t *testing.T) {
	most := thorough.Rounds(1000, 10000)
	bubble(t, Config{Limits: Limits{SubAgents: most, Sessions: most + 1}}, func(t *testing.T, r *testHub) {
		id := r.create()
		host := r.agents.last().host.(agent.WorkHost)
		size := func() int { return len(protocol.MustEncode(r.state(id))) }
		before := size()
		for i := range most {
			if _, err := host.SubAgent(agent.SubAgent{ID: fmt.Sprint(i)}, ""); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := host.SubAgent(agent.SubAgent{ID: "more"}, ""); protocol.CodeOf(err) != protocol.CodeSessionLimit {
			t.Errorf("one more: %v", err)
		}
		list := must[protocol.ListResult](r, r.do(anna, newCommand(protocol.DoList, "", protocol.ListData{})))
		if n := size(); n != before || len(list.Sessions) != most+1 {
			t.Errorf("a state of %d bytes, before %d; %d sessions", n, before, len(list.Sessions))
		}
		time.Sleep(time.Hour)
		r.store.set(func() { r.store.latency = 10 * time.Millisecond })
		began := time.Now()
		closed := r.start(anna, newCommand(protocol.DoClose, id, protocol.CloseData{Delete: true}))
		for closed.replies == 0 {
			r.waitIdle()
		}
		must[protocol.CloseResult](r, closed)
		if n, took := r.hub.Sessions().Len(), time.Since(began); n != 0 || took > time.Duration(most)*time.Millisecond {
			t.Errorf("%d sessions are left after %v", n, took)
		}
	})
}

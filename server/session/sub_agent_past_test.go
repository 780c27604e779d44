package session

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
	"agentctl/server/session/subagent"
)

// shows lets a run show a finished call that stands for a session.
func (r *fakeRun) shows(session string) {
	r.emit(
		agent.Event{Type: protocol.ToolStarted, Data: protocol.ToolStartedData{Tool: "c" + session, Name: "Agent", Session: session}},
		agent.Event{Type: protocol.ToolEnded, Data: protocol.ToolEndedData{Tool: "c" + session, Status: "completed"}},
	)
}

// sessionsWithSubAgents makes a session with two turns: in the first a sub-agent "a" works, with a "deep"
// one below it, and in the second "a" works again, and "b".
func sessionsWithSubAgents(r *testHub) (id string) {
	id = r.create()
	r.send(id, "go")
	a := r.subAgent("a")
	deep := r.subAgentOf(a.host, "deep")
	root := r.agents.run()
	root.shows(a.id)
	run := a.works("count")
	run.shows(deep.id)
	run.ask(protocol.Approval{Request: "q", Kind: protocol.ApproveCommand, Command: "ls"})
	r.waitIdle()
	root.finish(agent.End{}, nil) // before the decision
	r.waitIdle()
	must[protocol.ApproveResult](r, r.do(anna, approve(id, protocol.ApproveData{Decision: protocol.AllowOnce})))
	deep.works("dig").finish(agent.End{}, nil)
	run.finish(agent.End{}, nil)
	r.waitIdle()
	time.Sleep(time.Second)
	r.send(id, "and again")
	second := r.agents.run()
	b := r.subAgent("b")
	second.shows(b.id)
	b.works("later").finish(agent.End{}, nil)
	a.works("count again").finish(agent.End{}, nil)
	second.finish(agent.End{}, nil)
	r.waitIdle()
	return id
}

// prompts returns the texts of the turns of a session, and the sessions that its calls and requests name.
func prompts(r *testHub, session string) (texts, named []string) {
	r.t.Helper()
	for _, e := range r.events(session, false) {
		switch e.Type {
		case protocol.MessageUser:
			var d protocol.MessageUserData
			_ = e.Decode(&d)
			texts = append(texts, d.Text)
		case protocol.ToolStarted:
			var d protocol.ToolStartedData
			_ = e.Decode(&d)
			named = append(named, d.Session)
		case protocol.ApprovalRequested:
			var d protocol.Approval
			_ = e.Decode(&d)
			if d.SubAgent != nil {
				named = append(named, d.SubAgent.Session)
			}
		}
	}
	newLogChecker(r.t).apply(r.events(session, false))
	return texts, named
}

// checkCopied checks the sub-agents below a copy of a session.
func checkCopied(r *testHub, made string, turnsOfA []string, withB bool) {
	r.t.Helper()
	a, deep, b := subagent.SessionID(made, "a"), subagent.SessionID(made, "deep"), subagent.SessionID(made, "b")
	texts, named := prompts(r, a)
	if !slices.Equal(texts, turnsOfA) || !slices.Equal(named, []string{deep, a}) {
		r.t.Errorf("a has %q and names %q", texts, named)
	}
	if texts, _ := prompts(r, deep); !slices.Equal(texts, []string{"dig"}) {
		r.t.Errorf("deep has %q", texts)
	}
	want := []string{a}
	if withB {
		want = append(want, b)
	}
	if _, named := prompts(r, made); !slices.Equal(named, want) || r.hub.Sessions().Exists(b) != withB {
		r.t.Errorf("the copy names %q", named)
	}
	st := r.state(a)
	if st.Parent != made || !st.SubAgent || st.Title != "Title of a" || st.Turn != nil || r.state(deep).Parent != a {
		r.t.Errorf("a is %+v", st.Attributes)
	}
	if below := r.hub.subAgents.Below(made); len(below) != 2+len(want)-1 {
		r.t.Errorf("below it: %q", below)
	}
}

func TestSubAgentsAreForkedAndExportedWithTheirParent(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		r.agents.capable = func(context.Context, string) error { return nil }
		id := sessionsWithSubAgents(r)
		all := []string{"count", "count again"}
		fork := func(d protocol.ForkData) string {
			return must[protocol.CreateResult](r, r.do(anna, newCommand(protocol.DoFork, id, d))).Session
		}
		checkCopied(r, fork(protocol.ForkData{Turn: "1"}), []string{"count"}, false)
		whole := fork(protocol.ForkData{})
		checkCopied(r, whole, all, true)
		state := exportOf(r, whole) // a copy of a copy
		must[protocol.CloseResult](r, r.do(anna, newCommand(protocol.DoClose, whole, protocol.CloseData{Delete: true})))
		made := must[protocol.CreateResult](r, restore(r, state)).Session
		checkCopied(r, made, all, true)
		r.kill()
		checkCopied(r, made, all, true)
		r.send(made, "on")
		again := r.subAgent("a")
		if again.works("more"); again.id != subagent.SessionID(made, "a") || r.state(again.id).Turn == nil {
			t.Error("the agent's next work of the sub-agent is elsewhere")
		}
	})
}

func TestACopyHasNoMoreSubAgentsThanTheLimit(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		r.agents.capable = func(context.Context, string) error { return nil }
		id := sessionsWithSubAgents(r)
		r.hub.Reconfigure(Config{Limits: Limits{SubAgents: 2}})
		fork := must[protocol.CreateResult](r, r.do(anna, newCommand(protocol.DoFork, id, protocol.ForkData{}))).Session
		if below := r.hub.subAgents.Below(fork); len(below) != 2 || r.state(fork).Turns != 2 {
			t.Errorf("below the fork: %q", below)
		}
		if list := r.events(fork, false); !slices.ContainsFunc(list, func(e protocol.Event) bool {
			return e.Type == protocol.Notice && strings.Contains(string(e.Data), "1 without a session")
		}) {
			t.Errorf("no notice in %q", types(list))
		}
	})
}

func TestAnImportedLogNamesNoSessions(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := sessionsWithSubAgents(r)
		var events []json.RawMessage
		for _, e := range r.events(id, false) {
			events = append(events, protocol.MustEncode(e))
		}
		data := protocol.ImportData{Events: events, CreateData: protocol.CreateData{Lazy: true}}
		made := must[protocol.CreateResult](r, r.do(anna, newCommand(protocol.DoImport, "", data))).Session
		if _, named := prompts(r, made); strings.Join(named, "") != "" || len(named) != 2 {
			t.Errorf("it names %q", named)
		}
	})
}

// diesAfter lets the store fail as a killed server's does, after a number of commits. It returns how
// many there were.
func (r *testHub) diesAfter(commits int) func() int {
	n := 0
	r.store.set(func() {
		r.store.failCommit = func([]*eventlog.Batch) error {
			if n++; n > commits {
				return errDead
			}
			return nil
		}
	})
	return func() (count int) { r.store.set(func() { count = n }); return count }
}

func TestACopyThatAKilledServerMadeIsWholeOrNotThere(t *testing.T) {
	for verb, start := range map[protocol.Verb]func(r *testHub, id string, state protocol.SignedState) protocol.Command{
		protocol.DoFork: func(_ *testHub, id string, _ protocol.SignedState) protocol.Command {
			return newCommand(protocol.DoFork, id, protocol.ForkData{})
		},
		protocol.DoRestore: func(_ *testHub, _ string, state protocol.SignedState) protocol.Command {
			return newCommand(protocol.DoRestore, "", protocol.RestoreData{State: state})
		},
	} {
		t.Run(string(verb), func(t *testing.T) {
			whole := false
			for commits := 0; !whole; commits++ {
				bubble(t, Config{}, func(t *testing.T, r *testHub) {
					r.agents.capable = func(context.Context, string) error { return nil }
					id := sessionsWithSubAgents(r)
					before := r.hub.Sessions().Len()
					c := start(r, id, exportOf(r, id))
					c.Key = "once"
					r.diesAfter(commits)
					answered := r.start(anna, c)
					r.waitIdle()
					whole = answered.replies == 1 && answered.err == nil
					r.kill()
					if n := r.hub.Sessions().Len(); n != before && n != 2*before || whole && n == before {
						t.Errorf("after %d commits: %d sessions of %d", commits, n, 2*before)
					}
					made := must[protocol.CreateResult](r, r.do(anna, c)).Session
					checkCopied(r, made, []string{"count", "count again"}, true)
					if n := r.hub.Sessions().Len(); n != 2*before || len(r.hub.subAgents.All()) != 2*(before-1) {
						t.Errorf("after %d commits: sent again, %d sessions", commits, n)
					}
				})
			}
		})
	}
}

func TestACopyThatCannotBeMadeLeavesNoSubAgents(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		r.agents.capable = func(context.Context, string) error { return nil }
		id := sessionsWithSubAgents(r)
		before := r.hub.Sessions().Len()
		for room := 1; room < before; room++ {
			r.hub.Reconfigure(Config{Limits: Limits{Sessions: before + room}})
			refused(r, r.do(anna, newCommand(protocol.DoFork, id, protocol.ForkData{})), protocol.CodeSessionLimit)
			if n := r.hub.Sessions().Len(); n != before || len(r.hub.subAgents.All()) != before-1 {
				t.Errorf("with room for %d: %d sessions, %d sub-agents", room, n, len(r.hub.subAgents.All()))
			}
		}
	})
}

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

package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// asyncCommandTests are the commands that an agent runs outside turns.
var asyncCommandTests = []struct {
	verb protocol.Verb
	data any
}{
	{protocol.DoCompact, protocol.Empty{}},
	{protocol.DoContext, protocol.Empty{}},
	{protocol.DoTaskCancel, protocol.TaskIDData{Task: "t1"}},
	{protocol.DoTaskRestart, protocol.TaskIDData{Task: "t1"}},
	{protocol.DoConfigure, protocol.ConfigureData{Setting: "mode", Value: "ask"}},
	{protocol.DoExport, protocol.Empty{}},
}

func TestAnAgentIsAskedForWhatItCan(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		var done []string
		r.agents.capable = func(_ context.Context, what string) error {
			done = append(done, what)
			return nil
		}
		id := r.create()
		for _, b := range asyncCommandTests {
			must[struct{}](r, r.do(anna, newCommand(b.verb, id, b.data)))
		}
		if !slices.Equal(done, []string{"compact", "context", "cancel t1", "restart t1", "mode=ask", "export"}) {
			t.Errorf("the agent did %v", done)
		}
		events := types(r.events(id, false))
		if !slices.Contains(events, protocol.ContextCompacted) || !slices.Contains(events, protocol.StateExported) {
			t.Errorf("recorded %v", events)
		}
		r.agents.capable = func(context.Context, string) error { return errors.New("broken pipe") }
		for _, b := range asyncCommandTests {
			refused(r, r.do(anna, newCommand(b.verb, id, b.data)), protocol.CodeAgentFailed)
		}
		r.agents.capable = func(context.Context,
			string,
		) error {
			return protocol.Errorf(protocol.CodeNotFound, "no task t1")
		}
		refused(
			r,
			r.do(anna, newCommand(protocol.DoTaskCancel, id, protocol.TaskIDData{Task: "t1"})),
			protocol.CodeNotFound,
		)
	})
}

// A client that is refused a setting looks in the snapshot for the settings that the agent has.
func TestAnAnswerFollowsWhatTheAgentEmitted(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		const each = 40
		r.agents.capable = func(context.Context, string) error {
			for range each {
				info := protocol.ContextInfo{Tokens: 3}
				if err := r.agents.opened[0].host.Emit(agent.Event{Type: protocol.ContextUpdated, Data: info}); err != nil {
					t.Error(err)
				}
			}
			return protocol.Errorf(protocol.CodeNotFound, "no such setting")
		}
		id := r.create()
		before := r.state(id).Seq
		for n := range uint64(20) {
			k := r.do(anna, newCommand(protocol.DoConfigure, id, protocol.ConfigureData{Setting: "mode", Value: "ask"}))
			refused(r, k, protocol.CodeNotFound)
			if want := before + (n+1)*each; k.head != want {
				t.Fatalf("answered at %d, want %d", k.head, want)
			}
		}
	})
}

func TestWhatAnAgentCannotIsUnsupported(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		for _, b := range asyncCommandTests[:5] {
			refused(r, r.do(anna, newCommand(b.verb, id, b.data)), protocol.CodeUnsupported)
		}
		plan := protocol.PlanRunData{Tasks: []protocol.Task{{ID: "t1"}}, Question: "why"}
		refused(r, r.do(anna, newCommand(protocol.DoPlanRun, id, plan)), protocol.CodeUnsupported)
		r.agents.capabilities.RunsPlans = true
		other := r.create()
		must[protocol.SendResult](r, r.do(anna, newCommand(protocol.DoPlanRun, other, plan)))
		if turn := r.agents.run().turn; turn.Plan == nil || turn.Plan.Tasks[0].ID != "t1" ||
			turn.Message.Text != "why" {
			t.Errorf("the agent received %+v", turn)
		}
		if err := r.agents.run().agent.host.Emit(
			agent.Event{Type: protocol.ContextUpdated, Data: protocol.ContextInfo{Tokens: 3}},
		); err != nil {
			t.Error(err)
		}
		r.waitIdle()
		k := r.do(anna, newCommand(protocol.DoContext, other, protocol.Empty{}))
		if got := must[protocol.ContextResult](r, k).Context.Tokens; got != 3 {
			t.Errorf("%d tokens", got)
		}
		if r.agents.run().agent.host.Emit(agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{}}) == nil {
			t.Error("output outside a turn")
		}
	})
}

func TestTheTitleOfAnAgentReplacesOnlyItsOwn(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		var host agent.Host
		tell := func(title, want string) {
			t.Helper()
			r.send(id, "go")
			host = r.agents.run().agent.host
			err := host.Emit(
				agent.Event{Type: protocol.SessionUpdated, Data: protocol.SessionUpdatedData{Title: &title}},
			)
			if err != nil {
				t.Error(err)
			}
			r.waitIdle()
			if got := r.state(id).Title; got != want {
				t.Errorf("after %q the title is %q, want %q", title, got, want)
			}
			r.do(anna, newCommand(protocol.DoInterrupt, id, protocol.InterruptData{}))
		}
		tell("first", "first")
		tell("second", "second")
		r.restart()
		tell("third", "third")
		events := r.events(id, false)
		tell("third", "third")
		for _, e := range r.events(id, false)[len(events):] {
			if e.Type == protocol.SessionUpdated {
				t.Error("the same title was recorded again")
			}
		}
		rename := newCommand(protocol.DoRename, id, protocol.RenameData{Title: new("mine")})
		must[protocol.Empty](r, r.do(anna, rename))
		tell("fourth", "mine")
		r.restart()
		tell("fifth", "mine")
		titled := protocol.CreateData{Title: "given"}
		id = must[protocol.CreateResult](r, r.do(anna, newCommand(protocol.DoCreate, "", titled))).Session
		tell("sixth", "given")
		e := agent.Event{Type: protocol.SessionUpdated, Data: protocol.SessionUpdatedData{Name: new("n")}}
		if err := host.Emit(e); protocol.CodeOf(err) != protocol.CodeUnsupported {
			t.Errorf("an agent renames a session: %v", err)
		}
	})
}

func TestAnAgentAtWorkKeepsItsSessionLoadedAndItsAnswerIsGivenAtTheLatestAtTheEnd(t *testing.T) {
	bubble(t, Config{UnloadAfter: time.Minute}, func(t *testing.T, r *testHub) {
		r.agents.capable = func(ctx context.Context, _ string) error {
			<-ctx.Done()
			return ctx.Err()
		}
		id := r.create()
		c := keyed(newCommand(protocol.DoCompact, id, protocol.Empty{}), "k1")
		first, second := r.start(anna, c), r.start(anna, c)
		time.Sleep(2 * time.Minute)
		r.waitIdle()
		if first.replies+second.replies != 0 {
			t.Fatalf("answered %v", first.err)
		}
		r.restart()
		refused(r, first, protocol.CodeShuttingDown)
		refused(r, second, protocol.CodeShuttingDown)
		first, second = r.start(anna, c), r.start(anna, c)
		time.Sleep(asyncTimeout + time.Second)
		r.waitIdle()
		refused(r, first, protocol.CodeAgentFailed)
		refused(r, second, protocol.CodeAgentFailed)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if r.hub.list.Loaded(id) != nil {
			t.Error("never unloaded")
		}
	})
}

func TestProcessGroupsOfAKilledServerAreEndedByTheNext(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.send(id, "go")
		host := r.agents.run().agent.host
		for pid := 1; pid <= 3; pid++ {
			if err := host.RecordProcessGroup(agent.ProcessGroup{PID: pid, Start: fmt.Sprint("at ", pid)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := host.RecordProcessGroup(agent.ProcessGroup{PID: 2, Start: "at 2", Ended: true}); err != nil {
			t.Fatal(err)
		}
		ended := make(chan agent.ProcessGroup, 10)
		r.cfg.KillProcessGroup = func(g agent.ProcessGroup) error {
			ended <- g
			return errors.New("gone already")
		}
		r.kill()
		pids := []int{(<-ended).PID, (<-ended).PID}
		slices.Sort(pids)
		if !slices.Equal(pids, []int{1, 3}) || len(ended) != 0 {
			t.Errorf("killed %v", pids)
		}
		r.waitIdle()
		if groups, _ := r.store.ProcessGroups(t.Context()); len(groups) != 0 {
			t.Errorf("still recorded: %v", groups)
		}
		if host.RecordProcessGroup(agent.ProcessGroup{PID: 4}) == nil {
			t.Error("recorded after the hub was closed")
		}
	})
}

func TestADeletedSessionLeavesNothing(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := startAsking(r, protocol.Approval{Request: "q", Kind: protocol.ApproveQuestion, Title: "?"})
		r.store.set(func() { r.store.latency = time.Second })
		remove := r.start(anna, keyed(newCommand(protocol.DoClose, id, protocol.CloseData{Delete: true}), "k1"))
		again := r.start(anna, keyed(newCommand(protocol.DoClose, id, protocol.CloseData{Delete: true}), "k1"))
		var late []*testCall
		for range 8 {
			time.Sleep(300 * time.Millisecond)
			late = append(late,
				r.start(bert, newCommand(protocol.DoExport, id, protocol.Empty{})),
				r.start(bert, newCommand(protocol.DoSend, id, protocol.SendData{Text: "late"})))
		}
		r.waitIdle()
		must[protocol.Empty](r, remove)
		if again.replies != 1 {
			t.Errorf("answered %d times", again.replies)
		}
		for _, k := range late {
			if k.replies != 1 {
				t.Errorf("%s was answered %d times", k.cmd.Command, k.replies)
			}
		}
		if len(r.store.sessions) != 0 {
			t.Error("it is still in the store")
		}
	})
}

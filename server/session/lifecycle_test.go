package session

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/session/output"
)

func TestATurnCutByARestartEndsAtOnce(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := startAsking(r, protocol.Approval{Request: "q", Kind: protocol.ApproveQuestion, Title: "?"})
		r.send(id, "two")
		r.kill()
		events := r.events(id, false)
		var end protocol.TurnEndedData
		for _, e := range events {
			if e.Type == protocol.TurnEnded {
				_ = e.Decode(&end)
			}
		}
		if end.Code != protocol.CodeServerRestart {
			t.Errorf("no turn.ended with server_restart in %v", types(events))
		}
		st := r.state(id)
		if st.Turn != nil || len(st.Queue) != 1 || st.BlockingHold() == nil ||
			st.BlockingHold().Reason != protocol.HoldRestart {
			t.Errorf("after the restart: turn %v, queue %d, hold %v", st.Turn, len(st.Queue), st.BlockingHold())
		}
		decide := approve(id, protocol.ApproveData{Request: "q", Decision: protocol.AllowOnce})
		if e := refused(r, r.do(anna, decide), protocol.CodeConflict); e.Winner == nil ||
			e.Winner.Outcome != protocol.Cancelled {
			t.Errorf("the request: %+v", e)
		}
		must[protocol.QueueReleaseResult](
			r, r.do(anna, newCommand(protocol.DoQueueRelease, id, protocol.QueueReleaseData{})),
		)
		if st := r.state(id); st.Turn == nil || st.Turn.Message.Text != "two" {
			t.Errorf("after the release: %s", encodeState(st))
		}
	})
}

func TestAnAgentThatResumesGoesOnWithoutBeingAsked(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		r.agents.capabilities = agent.Capabilities{Resumes: true}
		id := r.create()
		turn := r.send(id, "one").Turn
		r.agents.run().emit(agent.Event{Type: protocol.ToolStarted, Data: protocol.ToolStartedData{Tool: "t1"}})
		synctest.Wait()
		r.kill()
		run := r.agents.run()
		if run == nil || run.turn.ID != turn || !run.turn.Resumed {
			t.Fatalf("the agent does not resume %s", turn)
		}
		events := r.events(id, false)
		var end protocol.ToolEndedData
		for _, e := range events {
			if e.Type == protocol.ToolEnded {
				_ = e.Decode(&end)
			}
		}
		if end.Tool != "t1" || end.Status != protocol.ToolUnknown {
			t.Errorf("the running tool ended as %+v", end)
		}
		var start protocol.TurnStartedData
		last := events[len(events)-1]
		if _ = last.Decode(&start); last.Type != protocol.TurnStarted || last.By == nil || *last.By != anna.By ||
			start != (protocol.TurnStartedData{MessageID: run.turn.Message.MessageID, Agent: "fake", Resumed: true}) ||
			run.turn.Message.Text != "one" {
			t.Errorf("resumed with %s %+v by %v, message %+v", last.Type, start, last.By, run.turn.Message)
		}
	})
}

func TestAnAgentThatCannotContinueThisTurnHoldsTheQueue(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		r.agents.capabilities = agent.Capabilities{Resumes: true}
		id := r.create()
		r.send(id, "one")
		r.send(id, "two")
		synctest.Wait()
		r.kill()
		r.agents.run().finish(agent.End{Reason: protocol.ReasonError, Code: protocol.CodeServerRestart}, nil)
		synctest.Wait()
		st := r.state(id)
		if st.Turn != nil || len(st.Queue) != 1 || st.BlockingHold() == nil ||
			st.BlockingHold().Reason != protocol.HoldRestart {
			t.Errorf("turn %v, queue %d, hold %v", st.Turn, len(st.Queue), st.BlockingHold())
		}
	})
}

func TestAResumedTurnGetsWhatItHasShown(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		r.agents.capabilities = agent.Capabilities{Resumes: true}
		id := r.create()
		r.send(id, "one")
		run := r.agents.run()
		run.emit(agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "1", Text: "whole"}})
		run.emit(agent.Event{Type: protocol.TextEnd, Data: protocol.PartEndData{Part: "1"}})
		run.emit(agent.Event{Type: protocol.ReasoningDelta, Data: protocol.PartDeltaData{Part: "2", Text: "why"}})
		for _, text := range []string{"he", "ll", "o"} {
			run.emit(agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "3", Text: text}})
		}
		run.emit(agent.Event{
			Type: protocol.TextDelta, Task: "a", Data: protocol.PartDeltaData{Part: "4", Text: "of a task"},
		})
		synctest.Wait()
		r.kill()
		want := []agent.ShownText{
			{Part: "1", Kind: protocol.KindText, Text: "whole"},
			{Part: "2", Kind: protocol.KindReasoning, Text: "why", Open: true},
			{Part: "3", Kind: protocol.KindText, Text: "hello", Open: true},
			{Part: "4", Kind: protocol.KindText, Text: "of a task", Open: true},
		}
		if got := r.agents.run().turn.Shown; !slices.Equal(got, want) {
			t.Errorf("%+v", got)
		}
	})
}

func TestADecisionTakenWhileTheAgentWasAwayIsDelivered(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		r.agents.capabilities = agent.Capabilities{Resumes: true}
		id := r.create()
		r.send(id, "one")
		request := protocol.Approval{
			Request: "q",
			Kind:    protocol.ApproveQuestion,
			Title:   "?",
			Options: []protocol.Option{{ID: "own", Kind: protocol.AllowOnce}},
		}
		r.agents.run().ask(request)
		synctest.Wait()
		r.restart()
		must[protocol.ApproveResult](
			r,
			r.do(bert, newCommand(protocol.DoApprove, id, protocol.ApproveData{Request: "q", Option: "own"})),
		)
		run := r.agents.run()
		run.ask(request)
		synctest.Wait()
		if v, ok := run.verdict("q"); !ok || v.Outcome != protocol.Allowed || v.Option != "own" {
			t.Errorf("the agent received %+v, %t", v, ok)
		}
		loser := refused(
			r,
			r.do(anna, newCommand(protocol.DoApprove, id, protocol.ApproveData{Request: "q", Decision: protocol.Deny})),
			protocol.CodeConflict,
		)
		if loser.Winner == nil || loser.Winner.By != bert.By || loser.Winner.Option != "own" {
			t.Errorf("winner: %+v", loser.Winner)
		}
	})
}

func TestAnIdleSessionUnloadsAndIsLoadedByItsNextCommand(t *testing.T) {
	bubble(t, Config{UnloadAfter: time.Minute}, func(t *testing.T, r *testHub) {
		created := must[protocol.CreateResult](r, r.do(anna, newCommand(protocol.DoCreate, "", protocol.CreateData{})))
		id, made := created.Session, created.Position
		r.send(id, "one")
		time.Sleep(2 * time.Minute)
		if r.hub.list.Loaded(id) == nil {
			t.Fatal("unloaded with a running turn")
		}
		r.agents.run().finish(agent.End{}, nil)
		synctest.Wait()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if r.hub.list.Loaded(id) != nil {
			t.Fatal("idle without subscribers, and still in memory")
		}
		if st := r.state(id); st.Turns != 1 {
			t.Errorf("%d turns after loading", st.Turns)
		}
		r.hub.Attach(
			t.Context(),
			id,
			&testSubscriber{name: "c1"},
			&protocol.SubscribeData{Position: &made},
			func(a *Attachment, err error) {
				if err != nil || a.Result.Mode != protocol.ModeResume || a.Result.After != made {
					t.Errorf("resume at an earlier position: %+v, %v", a, err)
				}
			},
		)
		r.waitIdle()
		if r.send(id, "two").Status != protocol.SendStarted {
			t.Error("no turn after loading")
		}
	})
}

func TestAnAgentWaitsWhileTheLogIsBehind(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.send(id, "go")
		r.store.set(func() { r.store.latency = time.Hour })
		const words = 4000
		emitted := make(chan struct{})
		go func() {
			defer close(emitted)
			for range words {
				r.agents.run().emit(
					agent.Event{
						Type: protocol.TextDelta,
						Data: protocol.PartDeltaData{Part: "p", Text: strings.Repeat("x", 1000)},
					},
				)
			}
		}()
		synctest.Wait()
		s := r.hub.list.Loaded(id)
		if n := s.journal.Uncommitted(); n > maxUncommitted+protocol.MaxEvent {
			t.Errorf("%d bytes uncommitted", n)
		}
		if n := s.mail.output.Size(); n < output.MaxQueued || n > 2*output.MaxQueued {
			t.Errorf("%d bytes queued", n)
		}
		select {
		case <-emitted:
			t.Error("the agent did not block")
		default:
		}
		k := r.start(anna, newCommand(protocol.DoSend, id, protocol.SendData{Text: "meanwhile"}))
		synctest.Wait()
		if len(s.state.Queue) != 1 {
			t.Error("a command waits for agent output")
		}
		r.store.set(func() { r.store.latency = 0 })
		<-emitted
		r.waitIdle()
		if must[protocol.SendResult](r, k).Status != protocol.SendQueued {
			t.Error("not queued")
		}
		n := 0
		for _, e := range r.events(id, false) {
			if e.Type == protocol.TextDelta {
				n++
			}
		}
		if n != words {
			t.Errorf("%d events of %d", n, words)
		}
	})
}

func TestATurnWhoseAgentCannotBeOpenedAnyMoreIsCut(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		r.agents.capabilities = agent.Capabilities{Resumes: true}
		id := r.create()
		r.send(id, "one")
		r.agents.refuse = protocol.Errorf(protocol.CodeNoAgent, "it was removed")
		r.restart()
		if st := r.state(id); st.Turn != nil || st.Last.Code != protocol.CodeServerRestart {
			t.Errorf("after the restart: %s", encodeState(st))
		}
		r.send(id, "two")
		if st := r.state(id); st.Turn != nil || st.Last.Reason != protocol.ReasonError ||
			st.Last.Code != protocol.CodeNoAgent {
			t.Errorf("without an agent: %s", encodeState(st))
		}
		newLogChecker(t).apply(r.events(id, false))
	})
}

func TestWhatAnAgentSavedIsKeptUntilItSavesAgain(t *testing.T) {
	bubble(t, Config{UnloadAfter: time.Minute}, func(t *testing.T, r *testHub) {
		r.agents.capabilities = agent.Capabilities{Resumes: true}
		id := r.create()
		r.send(id, "one")
		note := agent.Event{Type: protocol.Notice, Data: protocol.NoticeData{Message: "n"}}
		saving := note
		saving.Save = []byte("with an event")
		run := r.agents.run()
		for want, save := range map[string]func() error{
			"alone":         func() error { return run.out.Save([]byte("alone")) },
			"with an event": func() error { return run.out.Emit(saving) },
			"outside":       func() error { return run.agent.host.Save([]byte("outside")) },
		} {
			if err := save(); err != nil {
				t.Fatal(err)
			}
			run.emit(note)
			r.waitIdle()
			r.kill()
			if run = r.agents.run(); run == nil || string(run.agent.spec.State) != want {
				t.Fatalf("saved %q, received %+v", want, run)
			}
		}
		huge := make([]byte, maxState+1)
		if err := run.out.Save(huge); protocol.CodeOf(err) != protocol.CodeTooLarge {
			t.Errorf("Save of a large state: %v", err)
		}
		saving.Save = huge
		if err := run.out.Emit(saving); protocol.CodeOf(err) != protocol.CodeTooLarge {
			t.Errorf("Emit with a large state: %v", err)
		}
		run.finish(agent.End{}, nil)
		r.waitIdle()
		for _, err := range []error{run.out.Save(nil), run.out.Emit(note)} {
			if err == nil {
				t.Error("output accepted after the turn")
			}
		}
		if _, err := run.out.Ask(t.Context(), protocol.Approval{Kind: protocol.ApproveQuestion}); err == nil {
			t.Error("Ask accepted after the turn")
		}
	})
}

func TestAWatchedSessionStaysLoaded(t *testing.T) {
	bubble(t, Config{UnloadAfter: time.Minute}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.hub.Attach(
			t.Context(),
			id,
			&testSubscriber{name: "c1"},
			&protocol.SubscribeData{},
			func(*Attachment, error) {},
		)
		time.Sleep(time.Hour)
		synctest.Wait()
		if r.hub.list.Loaded(id) == nil {
			t.Error("unloaded with a subscriber")
		}
		if l := r.hub.Sessions().List(true); l[0].Clients != 1 {
			t.Errorf("%d clients", l[0].Clients)
		}
		r.kill()
		if l := r.hub.Sessions().List(true); l[0].Clients != 0 || l[0].Epoch == "" {
			t.Errorf("after a restart: %+v", l[0])
		}
	})
}

func TestOfTwoRemovalsOneRemoves(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		remove := newCommand(protocol.DoClose, id, protocol.CloseData{Delete: true})
		r.store.set(func() { r.store.latency = time.Second })
		first, second := r.start(anna, remove), r.start(bert, remove)
		for first.replies+second.replies < 2 {
			r.waitIdle()
		}
		must[protocol.CloseResult](r, first)
		refused(r, second, protocol.CodeNoSession)
		if len(r.store.faults) > 0 {
			t.Errorf("invalid batches: %v", r.store.faults)
		}
	})
}

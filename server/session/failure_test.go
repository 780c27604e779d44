package session

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
)

func TestAStoreThatFailedForGoodIsToldAndLetsTheHubClose(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := startAsking(r, protocol.Approval{Request: "q", Kind: protocol.ApproveQuestion, Title: "?"})
		r.store.kill()
		for range 3 {
			refused(
				r,
				r.do(anna, newCommand(protocol.DoSend, id, protocol.SendData{Text: "two"})),
				protocol.CodeStorage,
			)
			refused(r, r.do(anna, newCommand(protocol.DoCreate, "", protocol.CreateData{})), protocol.CodeStorage)
			time.Sleep(10500 * time.Millisecond)
		}
		if err := context.Cause(r.hub.Failed()); !errors.Is(err, eventlog.ErrStoreFailed) {
			t.Errorf("the failure is %v", err)
		}
		if n := len(r.hub.Sessions().List(true)); n != 1 {
			t.Errorf("%d sessions are listed", n)
		}
		if st := r.state(id); st.Seq != r.store.sessions[id].rec.Head {
			t.Errorf("state at %d, store at %d", st.Seq, r.store.sessions[id].rec.Head)
		}
	})
}

func TestAFailedCommitCutsTheTurnAndTheQueueRunsOn(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.send(id, "one")
		r.send(id, "two")
		cut := r.agents.run()
		r.failOnce()
		cut.emit(agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: "lost"}})
		r.waitIdle()
		if cut.ctx.Err() == nil {
			t.Error("the agent still runs")
		}
		if err := cut.out.Emit(agent.Event{Type: protocol.Notice, Data: protocol.NoticeData{Message: "late"}}); err == nil {
			t.Error("the agent can still emit")
		}
		time.Sleep(2 * time.Second)
		r.waitIdle()
		st := r.state(id)
		if st.Last == nil || st.Last.Code != protocol.CodeStorage || st.Turn == nil || st.Turn.Message.Text != "two" {
			t.Errorf("after a failed commit: %s", encodeState(st))
		}
		newLogChecker(t).apply(r.events(id, false))
	})
}

func TestAFullDiskIsNamedToTheSenderAndInTheTurn(t *testing.T) {
	for cause, want := range map[error]string{eventlog.ErrFull: "disk is full", eventlog.ErrReadOnly: "read-only"} {
		bubble(t, Config{}, func(t *testing.T, r *testHub) {
			id := r.create()
			r.send(id, "one")
			r.agents.run()
			r.store.set(func() { r.store.failCommit = func([]*eventlog.Batch) error { return errors.Join(cause) } })
			err := r.do(anna, newCommand(protocol.DoSend, id, protocol.SendData{Text: "two"})).err
			if protocol.CodeOf(err) != protocol.CodeStorage || !strings.Contains(err.Error(), want) {
				t.Errorf("send: %v", err)
			}
			r.store.set(func() { r.store.failCommit = nil })
			time.Sleep(2 * time.Second)
			r.waitIdle()
			if last := r.state(id).Last; last == nil || !strings.Contains(last.Message, want) {
				t.Errorf("the turn ended with %+v", last)
			}
		})
	}
}

func TestAStateThatWasNotKeptIsNotGivenToTheAgentAgain(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.send(id, "one")
		save := func(s string) {
			if err := r.agents.run().out.Save([]byte(s)); err != nil {
				t.Fatal(err)
			}
			r.waitIdle()
		}
		save("kept")
		r.failOnce()
		save("lost")
		time.Sleep(2 * time.Second)
		r.send(id, "two")
		if got := string(r.agents.run().agent.spec.State); got != "kept" {
			t.Errorf("the agent continues from %q", got)
		}
	})
}

// While a session cannot be read from a store that fails or hangs, nothing waits for the session.
// It continues when the store answers.
func TestASessionThatCannotBeReloadedRefusesRequests(t *testing.T) {
	for name, unreadable := range map[string]func(stop <-chan struct{}) error{
		"fails": func(<-chan struct{}) error { return eventlog.ErrCorrupt },
		"hangs": func(stop <-chan struct{}) error { <-stop; return eventlog.ErrCorrupt },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Config{}, func(t *testing.T, r *testHub) {
				id := r.create()
				fail := func(f func() error) { r.store.set(func() { r.store.failRead = f }) }
				stop := make(chan struct{})
				fail(func() error { return unreadable(stop) })
				r.failOnce()
				send := func(text string) *testCall {
					return r.start(anna, newCommand(protocol.DoSend, id, protocol.SendData{Text: text}))
				}
				first := send("one")
				time.Sleep(1500 * time.Millisecond)
				synctest.Wait()
				refused(r, first, protocol.CodeStorage)
				two := send("two")
				synctest.Wait()
				refused(r, two, protocol.CodeStorage)
				attached := make(chan error, 1)
				r.hub.Attach(t.Context(), id, &testSubscriber{name: "c1"}, &protocol.SubscribeData{},
					func(_ *Attachment, err error) { attached <- err })
				if err := <-attached; protocol.CodeOf(err) != protocol.CodeStorage {
					t.Errorf("attach: %v", err)
				}
				r.hub.Detach(id, "c1", "") // does not wait
				fail(nil)
				close(stop)
				time.Sleep(2 * time.Second)
				r.waitIdle()
				three := send("three")
				r.waitIdle()
				if must[protocol.SendResult](r, three).Status != protocol.SendStarted {
					t.Error("not started")
				}
				fail(func() error { return eventlog.ErrCorrupt })
				r.failOnce()
				send("four")
				synctest.Wait()
			}) // the hub closes while the session still cannot be read
		})
	}
}

func TestOneSessionsBadBatchFailsNoOther(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		a, b, c := r.create(), r.create(), r.create()
		r.store.set(func() {
			r.store.latency = time.Second
			r.store.failCommit = func(batches []*eventlog.Batch) error {
				for _, batch := range batches {
					if batch.Session == b {
						return errors.New("constraint")
					}
				}
				return nil
			}
		})
		var calls []*testCall
		for _, id := range []string{a, b, c} {
			calls = append(calls, r.start(anna, newCommand(protocol.DoSend, id, protocol.SendData{Text: "x"})))
		}
		r.waitIdle()
		must[protocol.SendResult](r, calls[0])
		refused(r, calls[1], protocol.CodeStorage)
		must[protocol.SendResult](r, calls[2])
		r.store.set(func() { r.store.failCommit = nil })
	})
}

func TestAnAgentThatNeverStopsIsClosedAndDelaysNobodyForLong(t *testing.T) {
	bubble(t, Config{InterruptGrace: 10 * time.Second}, func(t *testing.T, r *testHub) {
		r.agents.ignoresInterrupt = true
		id := r.create()
		r.send(id, "one")
		r.send(id, "two")
		start := time.Now()
		k := r.start(anna, newCommand(protocol.DoInterrupt, id, protocol.InterruptData{}))
		time.Sleep(11 * time.Second)
		r.waitIdle()
		if !must[protocol.InterruptResult](r, k).Interrupted {
			t.Error("not interrupted")
		}
		st := r.state(id)
		if st.Last.Reason != protocol.ReasonInterrupted || st.Last.Ended.Sub(start) < 10*time.Second ||
			st.Turn == nil ||
			st.Turn.Message.Text != "two" {
			t.Errorf("after the grace: %s", encodeState(st))
		}
	})
}

// stuckAgent neither stops nor closes until release is closed.
type stuckAgent struct{ release chan struct{} }

func (s stuckAgent) Open(agent.Spec, agent.Host) (agent.Agent, error) { return s, nil }
func (s stuckAgent) Names() []string                                  { return nil }
func (s stuckAgent) Capabilities() agent.Capabilities                 { return agent.Capabilities{} }
func (s stuckAgent) Close() error                                     { <-s.release; return nil }
func (s stuckAgent) Run(context.Context, agent.Turn, agent.Output) (agent.End, error) {
	<-s.release
	return agent.End{}, nil
}

func TestATurnWhoseAgentNeverReturnsEndsAllTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		agents := stuckAgent{make(chan struct{})}
		h, err := NewHub(
			t.Context(),
			Config{Store: newMemStore(), Agents: agents, DefaultAgent: "stubborn", InterruptGrace: 10 * time.Second},
		)
		if err != nil {
			t.Fatal(err)
		}
		ask := func(c protocol.Command) json.RawMessage {
			answers := make(chan json.RawMessage, 1)
			h.Do(t.Context(), &c, anna, func(body json.RawMessage, err error) {
				if err != nil {
					t.Error(err)
				}
				answers <- body
			})
			return <-answers
		}
		var made protocol.CreateResult
		if err := json.Unmarshal(
			ask(newCommand(protocol.DoCreate, "", protocol.CreateData{Prompt: "go"})),
			&made,
		); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		var ended protocol.InterruptResult
		if err := json.Unmarshal(
			ask(newCommand(protocol.DoInterrupt, made.Session, protocol.InterruptData{})),
			&ended,
		); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); !ended.Interrupted || ended.Turn != made.Message.Turn || took != 10*time.Second {
			t.Errorf("%+v after %v", ended, took)
		}
		close(agents.release)
		if err := h.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestTheHubClosesInTimeAlsoWhenAnAgentDoesNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		agents := stuckAgent{make(chan struct{})}
		h, err := NewHub(t.Context(), Config{Store: newMemStore(), Agents: agents, DefaultAgent: "stubborn"})
		if err != nil {
			t.Fatal(err)
		}
		create := newCommand(protocol.DoCreate, "", protocol.CreateData{Prompt: "go"})
		h.Do(t.Context(), &create, anna, func(_ json.RawMessage, err error) {
			if err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := h.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("closed with %v", err)
		}
		close(agents.release)
	})
}

func TestEveryCommandIsAnsweredWhileTheHubCloses(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		r.store.set(func() { r.store.latency = time.Millisecond })
		id := r.start(anna, newCommand(protocol.DoCreate, "", protocol.CreateData{}))
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		session := must[protocol.CreateResult](r, id).Session
		var senders sync.WaitGroup
		for range 8 {
			senders.Go(func() {
				for range 50 {
					r.start(anna, newCommand(protocol.DoSend, session, protocol.SendData{Text: "x"}))
					time.Sleep(100 * time.Microsecond)
				}
			})
		}
		time.Sleep(2 * time.Millisecond)
		if err := r.hub.Close(t.Context()); err != nil {
			t.Error(err)
		}
		senders.Wait()
		r.checkAnswered()
		kept := 0
		for _, e := range r.events(session, false) {
			if e.Type == protocol.QueueAdded || e.Type == protocol.MessageUser {
				kept++
			}
		}
		done := 0
		for _, k := range r.calls[1:] {
			switch {
			case k.err == nil:
				done++
			case protocol.CodeOf(k.err) != protocol.CodeShuttingDown:
				t.Errorf("refused: %v", k.err)
			}
		}
		if kept != done || done == 0 {
			t.Errorf("%d messages kept, %d accepted", kept, done)
		}
		if strings.Contains(strings.Join(r.store.faults, ""), "batch") {
			t.Error(r.store.faults)
		}
		r.open()
	})
}

func TestADecisionThatWasNotKeptDecidedNothing(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := startAsking(r, protocol.Approval{Request: "q", Kind: protocol.ApproveQuestion})
		run := r.agents.run()
		r.failOnce()
		refused(r, r.do(bert, approve(id, protocol.ApproveData{Decision: protocol.AllowOnce})), protocol.CodeStorage)
		if v, ok := run.verdict("q"); ok {
			t.Errorf("the agent received %+v", v)
		}
		late := refused(
			r,
			r.do(anna, approve(id, protocol.ApproveData{Request: "q", Decision: protocol.Deny})),
			protocol.CodeConflict,
		)
		if late.Winner.Outcome != protocol.Cancelled || late.Winner.By.Name != "" {
			t.Errorf("decided by %+v", late.Winner)
		}
	})
}

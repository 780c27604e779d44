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
)

func TestAStoreThatFailedForGoodIsToldAndLetsTheHubClose(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		id := asking(r, protocol.Approval{Request: "q", Kind: protocol.ApproveQuestion, Title: "?"})
		r.store.kill()
		for range 3 {
			refused(r, r.do(anna, command(protocol.DoSend, id, protocol.SendData{Text: "two"})), protocol.CodeStorage)
			refused(r, r.do(anna, command(protocol.DoCreate, "", protocol.CreateData{})), protocol.CodeStorage)
			time.Sleep(10500 * time.Millisecond)
		}
		if n := len(r.hub.List(true)); n != 1 {
			t.Errorf("%d sessions are listed", n)
		}
		if st := r.state(id); st.Seq != r.store.sessions[id].rec.Head {
			t.Errorf("state at %d, store at %d", st.Seq, r.store.sessions[id].rec.Head)
		}
	})
}

func TestAFailedCommitCutsTheTurnAndTheQueueRunsOn(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		id := r.create()
		r.send(id, "one")
		r.send(id, "two")
		cut := r.agents.run()
		r.failOnce()
		cut.say(Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: "lost"}})
		r.settle()
		if cut.ctx.Err() == nil {
			t.Error("the agent works on")
		}
		if err := cut.out.Emit(Event{Type: protocol.Notice, Data: protocol.NoticeData{Message: "late"}}); err == nil {
			t.Error("the agent may speak on")
		}
		time.Sleep(2 * time.Second)
		r.settle()
		st := r.state(id)
		if st.Last == nil || st.Last.Code != protocol.CodeStorage || st.Turn == nil || st.Turn.Message.Text != "two" {
			t.Errorf("after a failed commit: %s", encodeState(st))
		}
		newAudit(t).follow(r.events(id, false))
	})
}

func TestAStateThatWasNotKeptIsNotGivenToTheAgentAgain(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		id := r.create()
		r.send(id, "one")
		save := func(s string) {
			if err := r.agents.run().out.Save([]byte(s)); err != nil {
				t.Fatal(err)
			}
			r.settle()
		}
		save("kept")
		r.failOnce()
		save("lost")
		time.Sleep(2 * time.Second)
		r.send(id, "two")
		if got := string(r.agents.run().agent.spec.State); got != "kept" {
			t.Errorf("the agent goes on from %q", got)
		}
	})
}

func TestASessionThatCannotBeReloadedWaitsForTheStore(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		id := r.create()
		fail := func(on bool) {
			r.store.set(func() {
				r.store.failRead = func() error {
					if on {
						return ErrCorrupt
					}
					return nil
				}
			})
		}
		fail(true)
		r.failOnce()
		first := r.start(anna, command(protocol.DoSend, id, protocol.SendData{Text: "one"}))
		synctest.Wait()
		var later *call
		go func() { later = r.start(anna, command(protocol.DoSend, id, protocol.SendData{Text: "two"})) }()
		time.Sleep(5 * time.Second)
		fail(false)
		time.Sleep(2 * time.Second)
		r.settle()
		refused(r, first, protocol.CodeStorage)
		if must[protocol.SendResult](r, later).Status != protocol.SendStarted {
			t.Error("not started")
		}
		fail(true)
		r.failOnce()
		r.start(anna, command(protocol.DoSend, id, protocol.SendData{Text: "three"}))
		synctest.Wait()
	}) // the hub closes while the session still cannot be read
}

func TestOneSessionsBadBatchFailsNoOther(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		a, b, c := r.create(), r.create(), r.create()
		r.store.set(func() {
			r.store.latency = time.Second
			r.store.failCommit = func(batches []*Batch) error {
				for _, batch := range batches {
					if batch.Session == b {
						return errors.New("constraint")
					}
				}
				return nil
			}
		})
		var calls []*call
		for _, id := range []string{a, b, c} {
			calls = append(calls, r.start(anna, command(protocol.DoSend, id, protocol.SendData{Text: "x"})))
		}
		r.settle()
		must[protocol.SendResult](r, calls[0])
		refused(r, calls[1], protocol.CodeStorage)
		must[protocol.SendResult](r, calls[2])
		r.store.set(func() { r.store.failCommit = nil })
	})
}

func TestAnAgentThatNeverStopsIsClosedAndDelaysNobodyForLong(t *testing.T) {
	bubble(t, Config{InterruptGrace: 10 * time.Second}, func(t *testing.T, r *rig) {
		r.agents.deaf = true
		id := r.create()
		r.send(id, "one")
		r.send(id, "two")
		start := time.Now()
		k := r.start(anna, command(protocol.DoInterrupt, id, protocol.InterruptData{}))
		time.Sleep(11 * time.Second)
		r.settle()
		if !must[protocol.InterruptResult](r, k).Interrupted {
			t.Error("not interrupted")
		}
		st := r.state(id)
		if st.Last.Reason != protocol.ReasonInterrupted || st.Last.Ended.Sub(start) < 10*time.Second || st.Turn == nil || st.Turn.Message.Text != "two" {
			t.Errorf("after the grace: %s", encodeState(st))
		}
	})
}

// stubborn is an agent that neither stops nor closes before it is let go.
type stubborn struct{ letGo chan struct{} }

func (s stubborn) Open(Spec, Host) (Agent, error) { return s, nil }
func (s stubborn) Names() []string                { return nil }
func (s stubborn) Capabilities() Capabilities     { return Capabilities{} }
func (s stubborn) Close() error                   { <-s.letGo; return nil }
func (s stubborn) Run(context.Context, Turn, Output) (End, error) {
	<-s.letGo
	return End{}, nil
}

func TestATurnWhoseAgentNeverReturnsEndsAllTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		agents := stubborn{make(chan struct{})}
		h, err := NewHub(t.Context(), Config{Store: newMemStore(), Agents: agents, DefaultAgent: "stubborn", InterruptGrace: 10 * time.Second})
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
		if err := json.Unmarshal(ask(command(protocol.DoCreate, "", protocol.CreateData{Prompt: "go"})), &made); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		var ended protocol.InterruptResult
		if err := json.Unmarshal(ask(command(protocol.DoInterrupt, made.Session, protocol.InterruptData{})), &ended); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); !ended.Interrupted || ended.Turn != made.Message.Turn || took != 10*time.Second {
			t.Errorf("%+v after %v", ended, took)
		}
		close(agents.letGo)
		if err := h.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestTheHubClosesInTimeAlsoWhenAnAgentDoesNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		agents := stubborn{make(chan struct{})}
		h, err := NewHub(t.Context(), Config{Store: newMemStore(), Agents: agents, DefaultAgent: "stubborn"})
		if err != nil {
			t.Fatal(err)
		}
		create := command(protocol.DoCreate, "", protocol.CreateData{Prompt: "go"})
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
		close(agents.letGo)
	})
}

func TestEveryCommandIsAnsweredWhileTheHubCloses(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		r.store.set(func() { r.store.latency = time.Millisecond })
		id := r.start(anna, command(protocol.DoCreate, "", protocol.CreateData{}))
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		session := must[protocol.CreateResult](r, id).Session
		var senders sync.WaitGroup
		for range 8 {
			senders.Go(func() {
				for range 50 {
					r.start(anna, command(protocol.DoSend, session, protocol.SendData{Text: "x"}))
					time.Sleep(100 * time.Microsecond)
				}
			})
		}
		time.Sleep(2 * time.Millisecond)
		if err := r.hub.Close(t.Context()); err != nil {
			t.Error(err)
		}
		senders.Wait()
		r.answered()
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
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		id := asking(r, protocol.Approval{Request: "q", Kind: protocol.ApproveQuestion})
		run := r.agents.run()
		r.failOnce()
		refused(r, r.do(bert, approve(id, protocol.ApproveData{Decision: protocol.AllowOnce})), protocol.CodeStorage)
		if v, ok := run.heard("q"); ok {
			t.Errorf("the agent heard %+v", v)
		}
		late := refused(r, r.do(anna, approve(id, protocol.ApproveData{Request: "q", Decision: protocol.Deny})), protocol.CodeConflict)
		if late.Winner.Outcome != protocol.Cancelled || late.Winner.By.Name != "" {
			t.Errorf("it was decided by %+v", late.Winner)
		}
	})
}

package session

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// work returns work of an agent that the test controls, as one of its runs.
func (a *fakeAgent) work(text string) agent.Work {
	return agent.Work{Text: text, Run: func(ctx context.Context, turn agent.Turn, out agent.Output) (agent.End, error) {
		return a.Run(ctx, turn, out)
	}}
}

// begin begins work of the agent that was opened last, and returns the error.
func (r *testHub) begin(w agent.Work) error {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := r.agents.last().host.(agent.WorkHost).Begin(ctx, w)
	r.waitIdle()
	return err
}

// last returns the agent that was opened last.
func (p *fakeAgents) last() *fakeAgent {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.opened[len(p.opened)-1]
}

func TestWorkOfAnAgentIsATurn(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		a := r.agents.last()
		if err := r.begin(a.work("")); err != nil {
			t.Fatal(err)
		}
		st := r.state(id)
		if st.Turn == nil || !st.Turn.Message.Work || st.Turn.Message.By.AgentSession() != id || st.Status() != protocol.Running {
			t.Fatalf("state %+v", st.Turn)
		}
		if err := r.begin(a.work("")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("begun during a turn: %v", err)
		}
		if sent := r.send(id, "and now?"); sent.Status != protocol.SendQueued {
			t.Errorf("sent during work: %+v", sent)
		}
		run := r.agents.run()
		run.emit(agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: "woke"}})
		run.ask(protocol.Approval{Request: "q", Kind: protocol.ApproveCommand, Command: "ls"})
		r.waitIdle()
		st = r.state(id)
		if len(st.Approvals) != 1 || st.Approvals[0].AskedBy != nil {
			t.Errorf("requests %+v", st.Approvals)
		}
		r.do(bert, approve(id, protocol.ApproveData{Decision: protocol.AllowOnce}))
		if v, ok := run.verdict("q"); !ok || v.Outcome != protocol.Allowed {
			t.Errorf("verdict %+v", v)
		}
		run.finish(agent.End{}, nil)
		r.waitIdle()
		if st = r.state(id); st.Turn == nil || st.Turn.Message.Text != "and now?" {
			t.Errorf("after the work: %+v", st.Turn)
		}
		r.agents.run().finish(agent.End{}, nil)
		r.waitIdle()
		if st = r.state(id); st.Turns != 2 || st.Status() != protocol.Idle {
			t.Errorf("in the end: %+v", st)
		}
		got := types(r.events(id, false))
		want := []protocol.Type{protocol.SessionCreated, protocol.MessageUser, protocol.TurnStarted}
		if !slices.Equal(got[:3], want) {
			t.Errorf("recorded %v", got)
		}
	})
}

func TestWorkIsInterruptedIfTheAgentCan(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		can := false
		w := r.agents.last().work("count")
		w.Interruptible = func() bool { return can }
		if err := r.begin(w); err != nil {
			t.Fatal(err)
		}
		interrupt := newCommand(protocol.DoInterrupt, id, protocol.InterruptData{})
		refused(r, r.do(anna, interrupt), protocol.CodeUnsupported)
		if st := r.state(id); st.Turn == nil || st.Turn.Message.Text != "count" {
			t.Errorf("refused, and %+v", st.Turn)
		}
		can = true
		if got := must[protocol.InterruptResult](r, r.do(anna, interrupt)); !got.Interrupted {
			t.Errorf("%+v", got)
		}
		if st := r.state(id); st.Last.Reason != protocol.ReasonInterrupted {
			t.Errorf("%+v", st.Last)
		}
	})
}

func TestWorkOfAKilledServerEndsAsATurnDoes(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		if err := r.begin(r.agents.last().work("")); err != nil {
			t.Fatal(err)
		}
		r.agents.run().emit(
			agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: "half"}},
		)
		r.send(id, "next")
		r.kill()
		st := r.state(id)
		if st.Turn != nil || st.Last.Code != protocol.CodeServerRestart || len(st.Queue) != 1 || st.BlockingHold() == nil {
			t.Errorf("after the kill: %+v", st)
		}
	})
}

func TestNoWorkBeginsInAClosedSession(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		a := r.agents.last()
		r.do(anna, newCommand(protocol.DoClose, id, protocol.CloseData{}))
		if err := r.begin(a.work("")); err == nil {
			t.Error("began")
		}
		if st := r.state(id); st.Turn != nil || st.Turns != 0 {
			t.Errorf("%+v", st)
		}
	})
}

func TestWorkDuringATurnBeginsAfterItUnlessAMessageIsNext(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.send(id, "one")
		r.send(id, "two")
		a := r.agents.last()
		begun := make(chan error, 1)
		go func() { begun <- a.host.(agent.WorkHost).Begin(t.Context(), a.work("more")) }()
		for _, want := range []string{"one", "two", "more"} {
			r.waitIdle()
			if st := r.state(id); st.Turn == nil || st.Turn.Message.Text != want {
				t.Fatalf("runs %+v, want %s", st.Turn, want)
			}
			r.agents.run().finish(agent.End{}, nil)
		}
		if err := <-begun; err != nil {
			t.Error(err)
		}
		r.waitIdle()
	})
}

func TestWorkThatAUsageLimitEndsIsNotQueued(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		if err := r.begin(r.agents.last().work("")); err != nil {
			t.Fatal(err)
		}
		r.send(id, "next")
		r.agents.run().finish((&agent.LimitError{Message: "no more"}).End(), nil)
		r.waitIdle()
		st := r.state(id)
		if len(st.Queue) != 1 || st.Queue[0].Text != "next" || st.LimitHold() == nil || st.Last.Reason != protocol.ReasonLimited {
			t.Errorf("queue %+v, holds %+v, %+v", st.Queue, st.Holds, st.Last)
		}
	})
}

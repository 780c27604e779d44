package session

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// limited ends the run at a usage limit.
func (r *testHub) limited(l agent.Limit) {
	r.t.Helper()
	r.agents.run().finish(agent.End{}, &agent.LimitError{Limit: l, Message: "the limit of 5 hours is used up"})
	r.waitIdle()
}

// continueAfterLimit changes the setting of a session.
func (r *testHub) continueAfterLimit(who Caller, id, n string) {
	r.t.Helper()
	set := protocol.ConfigureData{Setting: protocol.ContinueSetting, Value: n}
	must[protocol.Empty](r, r.do(who, newCommand(protocol.DoConfigure, id, set)))
}

func TestTenQueuedMessagesAtALimitAreNeitherLostNorTried(t *testing.T) {
	for name, interrupt := range map[string]func(*testHub){
		"a server that runs on": func(*testHub) {}, "a stopped server": (*testHub).restart, "a killed server": (*testHub).kill,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Config{}, func(t *testing.T, r *testHub) {
				id := r.create()
				want := []string{"first"}
				r.send(id, "first")
				for i := range 10 {
					want = append(want, fmt.Sprint("queued ", i))
					r.send(id, want[i+1])
				}
				reset := time.Now().Add(3 * time.Hour).UTC().Truncate(time.Millisecond)
				r.limited(agent.Limit{ResetsAt: reset})
				interrupt(r)
				time.Sleep(24 * time.Hour)
				r.waitIdle()
				st := r.state(id)
				var queued []string
				for i := range st.Queue {
					queued = append(queued, st.Queue[i].Text)
				}
				if n := len(r.agents.runs()); !slices.Equal(queued, want) || n != 1 || st.Turn != nil {
					t.Fatalf("%d turns, queue %q", n, queued)
				}
				if st.Last.Reason != protocol.ReasonLimited || st.Last.Code != protocol.CodeLimited ||
					!st.Last.ResetsAt.Equal(reset) || !st.LimitHold().ResetsAt.Equal(reset) {
					t.Errorf("last %+v, hold %+v", st.Last, st.LimitHold())
				}
				sum := r.hub.Sessions().List(false)[0]
				if sum.Reason != protocol.ReasonLimited || !sum.ResetsAt.Equal(reset) || !sum.Held {
					t.Errorf("summary %+v", sum)
				}
				must[protocol.QueueReleaseResult](
					r, r.do(bert, newCommand(protocol.DoQueueRelease, id, protocol.QueueReleaseData{})),
				)
				for range want {
					r.agents.run().finish(agent.End{}, nil)
					r.waitIdle()
				}
				runs := r.agents.runs()[1:]
				for i := range runs {
					if runs[i].Message.Text != want[i] || *runs[i].Message.By != anna.By {
						t.Errorf("turn %d: %+v", i, runs[i].Message)
					}
				}
				if st := r.state(id); len(runs) != len(want) || len(st.Queue) != 0 {
					t.Errorf("%d turns after the release, queue %+v", len(runs), st.Queue)
				}
			})
		})
	}
}

func TestTheEndAtALimitIsCounted(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		r.send(r.create(), "first")
		r.limited(agent.Limit{})
		m := r.hub.Metrics()
		if m.Turns.Of("limited").Value() != 1 || m.TurnErrors.Of("limited").Value() != 1 {
			t.Error("not counted")
		}
	})
}

func TestASessionContinuesAfterALimitInTheNameOfTheUserWhoChoseIt(t *testing.T) {
	for name, interrupt := range map[string]func(*testHub){
		"a server that runs on": func(*testHub) {}, "a stopped server": (*testHub).restart, "a killed server": (*testHub).kill,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Config{UnloadAfter: time.Minute}, func(t *testing.T, r *testHub) {
				id := r.create()
				r.continueAfterLimit(bert, id, "2")
				r.send(id, "first")
				r.send(id, "second")
				for range 2 {
					reset := time.Now().Add(3 * time.Hour)
					r.limited(agent.Limit{ResetsAt: reset})
					interrupt(r)
					if r.hub.list.Busy() != 1 {
						t.Error("the server may end before the time")
					}
					time.Sleep(time.Until(reset) - time.Second)
					r.waitIdle()
					if st := r.state(id); st.Turn != nil || len(st.Queue) != 2 {
						t.Fatalf("before the reset: %s", encodeState(st))
					}
					time.Sleep(2*time.Minute + 2*time.Second)
					r.waitIdle()
					st := r.state(id)
					if st.Turn == nil || st.Turn.Message.Text != "first" || *st.Turn.Message.By != anna.By || len(st.Queue) != 1 {
						t.Fatalf("after the reset: %s", encodeState(st))
					}
				}
				r.limited(agent.Limit{ResetsAt: time.Now().Add(time.Hour)})
				time.Sleep(24 * time.Hour)
				r.waitIdle()
				if st := r.state(id); st.Turn != nil || len(st.Queue) != 2 || st.LimitHold() == nil {
					t.Errorf("continued more often than chosen: %s", encodeState(st))
				}
				var by []string
				for _, e := range r.events(id, false) {
					if e.Type == protocol.QueueReleased {
						by = append(by, e.By.Name)
					}
				}
				if !slices.Equal(by, []string{"bert", "bert"}) {
					t.Errorf("released by %q", by)
				}
			})
		})
	}
}

// A turn that its agent completed, or ended after a denial, starts the doubled times again.
func TestATurnWithoutALimitShortensTheNextWait(t *testing.T) {
	for _, reason := range []protocol.Reason{protocol.ReasonCompleted, protocol.ReasonDenied} {
		bubble(t, Config{}, func(t *testing.T, r *testHub) {
			id := r.create()
			r.continueAfterLimit(bert, id, "10")
			wait := func() time.Duration {
				r.limited(agent.Limit{TookIn: true})
				d := time.Until(*r.state(id).LimitHold().Until)
				time.Sleep(d + time.Second)
				r.waitIdle()
				return d
			}
			r.send(id, "first")
			if first, second := wait(), wait(); second < 25*time.Minute || first > 25*time.Minute {
				t.Errorf("waited %s, then %s", first, second)
			}
			r.agents.run().finish(agent.End{Reason: reason}, nil)
			r.waitIdle()
			r.send(id, "again")
			if got := wait(); got > 25*time.Minute {
				t.Errorf("after a turn that ended %s: waits %s", reason, got)
			}
			r.agents.run().finish(agent.End{}, nil)
			r.waitIdle()
		})
	}
}

func TestAnAgentThatTookInTheMessageContinuesWithOneThatCanBeRemoved(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.continueAfterLimit(bert, id, "5")
		r.send(id, "first")
		r.limited(agent.Limit{TookIn: true})
		st := r.state(id)
		if len(st.Queue) != 1 || *st.Queue[0].By != bert.By || st.LimitHold().Until == nil {
			t.Fatalf("%s", encodeState(st))
		}
		remove := protocol.QueueRemoveData{MessageID: st.Queue[0].MessageID}
		must[protocol.QueueRemoveResult](r, r.do(anna, newCommand(protocol.DoQueueRemove, id, remove)))
		time.Sleep(time.Hour)
		r.waitIdle()
		if st := r.state(id); st.Turn != nil || st.LimitHold() == nil || st.NextScheduled() != nil {
			t.Errorf("%s", encodeState(st))
		}
		if n := len(r.agents.runs()); n != 1 {
			t.Errorf("%d turns", n)
		}
	})
}

func TestTheChoiceToContinueBelongsToOneSessionAndItsUsers(t *testing.T) {
	bubble(t, Config{ContinueAfterLimit: 4}, func(t *testing.T, r *testHub) {
		granted := anna
		granted.Grant = func() json.RawMessage { return json.RawMessage(`{"subject":"anna"}`) }
		created := must[protocol.CreateResult](
			r, r.do(granted, newCommand(protocol.DoCreate, "", protocol.CreateData{})),
		)
		c := r.hub.list.Loaded(created.Session).spec.AfterLimit
		if c == nil || c.Most != 4 || c.By != anna.By || string(c.Credential) != `{"subject":"anna"}` {
			t.Errorf("the default of the server: %+v", c)
		}
		data := protocol.CreateData{Settings: map[string]string{protocol.ContinueSetting: "0"}}
		off := must[protocol.CreateResult](r, r.do(anna, newCommand(protocol.DoCreate, "", data)))
		if c := r.hub.list.Loaded(off.Session).spec.AfterLimit; c != nil {
			t.Errorf("chosen never: %+v", c)
		}
		data.Settings[protocol.ContinueSetting] = "x"
		refused(r, r.do(anna, newCommand(protocol.DoCreate, "", data)), protocol.CodeInvalidMessage)
		byAgent := anna
		byAgent.Agent = created.Session
		child := must[protocol.CreateResult](r, r.do(byAgent, newCommand(protocol.DoCreate, "", protocol.CreateData{})))
		if c := r.hub.list.Loaded(child.Session).spec.AfterLimit; c != nil {
			t.Errorf("of an agent: %+v", c)
		}
		set := protocol.ConfigureData{Setting: protocol.ContinueSetting, Value: "9"}
		refused(r, r.do(byAgent, newCommand(protocol.DoConfigure, child.Session, set)), protocol.CodeForbidden)
	})
}

func TestAForkDoesNotContinueByTheChoiceOfItsSource(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		r.agents.capable = func(_ context.Context, _ string) error { return nil }
		id := r.create()
		r.continueAfterLimit(bert, id, "3")
		fork := must[protocol.CreateResult](r, r.do(anna, newCommand(protocol.DoFork, id, protocol.ForkData{}))).Session
		if c := r.hub.list.Loaded(fork).spec.AfterLimit; c != nil {
			t.Errorf("%+v", c)
		}
	})
}

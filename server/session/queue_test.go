package session

import (
	"slices"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

func TestAMessageInFrontOfAnEditedOneStartsAtOnce(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.send(id, "one")
		two := r.send(id, "two")
		must[protocol.QueueHoldResult](
			r,
			r.do(anna, newCommand(protocol.DoQueueHold, id, protocol.QueueHoldData{MessageID: two.MessageID})),
		)
		r.agents.run().finish(agent.End{}, nil)
		r.waitIdle()
		if st := r.state(id); st.Turn != nil || len(st.Queue) != 1 {
			t.Fatalf("turn %v, %d queued", st.Turn, len(st.Queue))
		}
		if s := r.send(id, "three"); s.Status != protocol.SendQueued {
			t.Errorf("behind the edited one: %+v", s)
		}
		front := must[protocol.SendResult](
			r,
			r.do(anna, newCommand(protocol.DoSend, id, protocol.SendData{Text: "four", Front: true})),
		)
		if front.Status != protocol.SendStarted {
			t.Errorf("in front of the edited one: %+v", front)
		}
	})
}

func TestAnEditHoldEndsAlsoWhenItsReleaseWasNotKept(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.send(id, "one")
		two := r.send(id, "two")
		must[protocol.QueueHoldResult](
			r,
			r.do(anna, newCommand(protocol.DoQueueHold, id, protocol.QueueHoldData{MessageID: two.MessageID})),
		)
		r.failOnce()
		refused(
			r,
			r.do(anna, newCommand(protocol.DoQueueRelease, id, protocol.QueueReleaseData{})),
			protocol.CodeStorage,
		)
		if st := r.state(id); len(st.Holds) != 1 {
			t.Fatalf("holds: %+v", st.Holds)
		}
		time.Sleep(time.Minute)
		r.waitIdle()
		if st := r.state(id); len(st.Holds) != 0 || st.Turn == nil || st.Turn.Message.Text != "two" {
			t.Errorf("after the timeout: %s", encodeState(st))
		}
	})
}

// The package queue tests which operation makes which message the next.
func TestTheQueueRunsOnAsSoonAsItsFirstMessageMay(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.send(id, "one")
		held := r.send(id, "held").MessageID
		must[protocol.QueueHoldResult](
			r,
			r.do(anna, newCommand(protocol.DoQueueHold, id, protocol.QueueHoldData{MessageID: held})),
		)
		r.agents.run().finish(agent.End{}, nil)
		r.waitIdle()
		if r.state(id).Turn != nil {
			t.Fatal("the held message ran")
		}
		must[protocol.QueueReleaseResult](
			r,
			r.do(anna, newCommand(protocol.DoQueueRelease, id, protocol.QueueReleaseData{})),
		)
		if st := r.state(id); st.Turn == nil || st.Turn.Message.Text != "held" {
			t.Errorf("released: %s", encodeState(st))
		}
	})
}

func TestAnEditHoldKeepsItsSessionLoadedUntilItEnds(t *testing.T) {
	bubble(t, Config{UnloadAfter: 10 * time.Second}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.send(id, "one")
		two := r.send(id, "two").MessageID
		must[protocol.QueueHoldResult](
			r,
			r.do(anna, newCommand(protocol.DoQueueHold, id, protocol.QueueHoldData{MessageID: two})),
		)
		r.agents.run().finish(agent.End{}, nil)
		time.Sleep(31 * time.Second) // the editor's connection never subscribed
		r.waitIdle()
		if run := r.agents.run(); run == nil || run.turn.Message.Text != "two" {
			t.Error("the message did not start after the hold")
		}
	})
}

// The first choice other than keep holds.
func TestAnInterruptKeepsHoldsOrClearsTheQueue(t *testing.T) {
	for _, c := range []struct {
		choices []string
		holds   int
		queued  int
		runs    bool
	}{
		{[]string{protocol.QueueKeep}, 0, 0, true},
		{[]string{protocol.QueueKeep, protocol.QueueHold}, 1, 1, false},
		{[]string{"", protocol.QueueHold}, 1, 1, false},
		{[]string{protocol.QueueKeep, protocol.QueueClear}, 0, 0, false},
		{[]string{protocol.QueueHold, protocol.QueueKeep}, 1, 1, false},
		{[]string{protocol.QueueHold, protocol.QueueClear}, 1, 1, false},
		{[]string{protocol.QueueClear, protocol.QueueHold}, 0, 0, false},
	} {
		bubble(t, Config{}, func(t *testing.T, r *testHub) {
			id := r.create()
			r.agents.ignoresInterrupt = true
			r.send(id, "one")
			r.send(id, "two")
			var calls []*testCall
			for _, choice := range c.choices {
				calls = append(
					calls,
					r.do(anna, newCommand(protocol.DoInterrupt, id, protocol.InterruptData{Queue: choice})),
				)
			}
			r.agents.run().finish(agent.End{}, nil)
			r.waitIdle()
			for _, k := range calls {
				if got := must[protocol.InterruptResult](r, k); !got.Interrupted {
					t.Errorf("%v: %+v", c.choices, got)
				}
			}
			st := r.state(id)
			if len(st.Holds) != c.holds || len(st.Queue) != c.queued || (st.Turn != nil) != c.runs {
				t.Errorf("%v: %s", c.choices, encodeState(st))
			}
			if h := st.BlockingHold(); h != nil && (h.Reason != protocol.HoldInterrupt || h.By == nil || *h.By != anna.By) {
				t.Errorf("%v: held by %+v", c.choices, h)
			}
		})
	}
}

func TestAnEditHoldEndsAlsoOverARestart(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		r.agents.capabilities = agent.Capabilities{Resumes: true}
		id := r.create()
		r.send(id, "one")
		two := r.send(id, "two").MessageID
		must[protocol.QueueHoldResult](r, r.do(anna, newCommand(protocol.DoQueueHold, id, protocol.QueueHoldData{})))
		must[protocol.QueueHoldResult](
			r,
			r.do(anna, newCommand(protocol.DoQueueHold, id, protocol.QueueHoldData{MessageID: two})),
		)
		r.kill()
		time.Sleep(time.Minute)
		r.waitIdle()
		if st := r.state(id); len(st.Holds) != 1 || st.Holds[0].Reason != protocol.HoldUser {
			t.Errorf("holds %+v", st.Holds)
		}
	})
}

func TestAMessageKnowsItsPlaceInTheQueue(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		refused(r, r.do(anna, newCommand(protocol.DoSend, id, protocol.SendData{})), protocol.CodeInvalidMessage)
		if one := r.send(id, "one"); one.Index != nil || one.Status != protocol.SendStarted || one.Seq == 0 ||
			one.Turn == "" {
			t.Errorf("started as %+v", one)
		}
		before := time.Now().Truncate(time.Millisecond)
		for i, d := range []protocol.SendData{{Text: "two\xff"}, {Text: "three"}, {Text: "first", Front: true}} {
			sent := must[protocol.SendResult](r, r.do(bert, newCommand(protocol.DoSend, id, d)))
			if want := i % 2; sent.Index == nil || *sent.Index != want || sent.Status != protocol.SendQueued ||
				sent.Turn != "" {
				t.Errorf("%s is queued as %+v", d.Text, sent)
			}
		}
		var words []string
		for _, m := range r.state(id).Queue {
			if words = append(words, m.Text); m.QueuedAt == nil || m.QueuedAt.Before(before) || m.By == nil ||
				m.By.Name != "bert" {
				t.Errorf("queued %+v", m)
			}
		}
		if !slices.Equal(words, []string{"first", "two\uFFFD", "three"}) {
			t.Errorf("queue %q", words)
		}
	})
}

package session

import (
	"slices"
	"testing"
	"testing/synctest"
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

func TestAnEditHoldOutlivesItsConnectionForAWhile(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		attach := func(conn string) {
			r.hub.Attach(
				t.Context(),
				id,
				&testSubscriber{name: conn},
				&protocol.SubscribeData{},
				func(*Attachment, error) {},
			)
			synctest.Wait()
		}
		attach("c1")
		r.send(id, "one")
		two := r.send(id, "two")
		hold := func(who Caller) *testCall {
			return r.do(who, newCommand(protocol.DoQueueHold, id, protocol.QueueHoldData{MessageID: two.MessageID}))
		}
		first := must[protocol.QueueHoldResult](r, hold(anna)).Hold
		refused(r, hold(bert), protocol.CodeConflict)
		refused(
			r,
			r.do(bert, newCommand(protocol.DoQueueRemove, id, protocol.QueueRemoveData{MessageID: two.MessageID})),
			protocol.CodeConflict,
		)
		r.agents.run().finish(agent.End{}, nil)
		attach("c2")
		r.hub.Detach(id, "c2", "") // another connection
		time.Sleep(time.Hour)
		if st := r.state(id); st.Turn != nil {
			t.Fatal("ran during the edit")
		}
		r.hub.Detach(id, "c1", "")
		time.Sleep(29 * time.Second)
		again := anna
		again.Conn = "c9"
		attach("c9")
		if h := must[protocol.QueueHoldResult](r, hold(again)).Hold; h != first {
			t.Errorf("a second hold %s of one actor", h)
		}
		time.Sleep(time.Minute)
		if st := r.state(id); st.Turn != nil {
			t.Fatal("ran during the edit on the new connection")
		}
		must[protocol.QueueReleaseResult](
			r,
			r.do(bert, newCommand(protocol.DoQueueRelease, id, protocol.QueueReleaseData{})),
		)
		if st := r.state(id); st.Turn != nil || len(st.Holds) != 1 {
			t.Fatal("another actor's release ended the edit hold")
		}
		r.hub.Detach(id, "c9", "")
		time.Sleep(31 * time.Second)
		r.waitIdle()
		if st := r.state(id); st.Turn == nil || st.Turn.Message.Text != "two" || len(st.Holds) != 0 {
			t.Errorf("after the release: %s", encodeState(st))
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

func TestTheQueueRunsOnAsSoonAsItsFirstMessageMay(t *testing.T) {
	for name, c := range map[string]struct {
		act  func(held, other string) (protocol.Verb, any)
		next string
	}{
		"another one is moved in front": {func(_, other string) (protocol.Verb, any) {
			return protocol.DoQueueMove, protocol.QueueMoveData{MessageID: other}
		}, "other"},
		"it is moved behind another one": {func(held, _ string) (protocol.Verb, any) {
			return protocol.DoQueueMove, protocol.QueueMoveData{MessageID: held, Index: 7}
		}, "other"},
		"it is removed": {func(held, _ string) (protocol.Verb, any) {
			return protocol.DoQueueRemove, protocol.QueueRemoveData{MessageID: held}
		}, "other"},
		"it was edited": {func(held, _ string) (protocol.Verb, any) {
			return protocol.DoQueueEdit, protocol.QueueEditData{MessageID: held, Text: "edited"}
		}, "edited"},
		"it is released": {func(string, string) (protocol.Verb, any) {
			return protocol.DoQueueRelease, protocol.QueueReleaseData{}
		}, "held"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Config{}, func(t *testing.T, r *testHub) {
				id := r.create()
				r.send(id, "one")
				held, other := r.send(id, "held").MessageID, r.send(id, "other").MessageID
				must[protocol.QueueHoldResult](
					r,
					r.do(anna, newCommand(protocol.DoQueueHold, id, protocol.QueueHoldData{MessageID: held})),
				)
				r.agents.run().finish(agent.End{}, nil)
				r.waitIdle()
				if r.state(id).Turn != nil {
					t.Fatal("the held message ran")
				}
				verb, data := c.act(held, other)
				must[struct{}](r, r.do(anna, newCommand(verb, id, data)))
				if st := r.state(id); st.Turn == nil || st.Turn.Message.Text != c.next {
					t.Errorf("not %s: %s", c.next, encodeState(st))
				}
			})
		})
	}
}

func TestAHoldBlocksEveryEndUntilItIsReleased(t *testing.T) {
	for _, queue := range []string{protocol.QueueKeep, protocol.QueueHold, protocol.QueueClear} {
		t.Run(queue, func(t *testing.T) {
			bubble(t, Config{}, func(t *testing.T, r *testHub) {
				id := r.create()
				interrupt := func() {
					must[protocol.InterruptResult](
						r,
						r.do(bert, newCommand(protocol.DoInterrupt, id, protocol.InterruptData{Queue: queue})),
					)
				}
				r.send(id, "one")
				interrupt()
				if st := r.state(id); len(st.Holds) != 0 {
					t.Errorf("an empty queue is held: %+v", st.Holds)
				}
				r.send(id, "two")
				r.send(id, "three")
				interrupt()
				st := r.state(id)
				switch queue {
				case protocol.QueueKeep:
					if st.Turn == nil || st.Turn.Message.Text != "three" {
						t.Errorf("kept: %s", encodeState(st))
					}
				case protocol.QueueClear:
					if st.Turn != nil || len(st.Queue) != 0 {
						t.Errorf("cleared: %s", encodeState(st))
					}
				case protocol.QueueHold:
					if st.Turn != nil || len(st.Queue) != 1 || st.BlockingHold().Reason != protocol.HoldInterrupt ||
						*st.BlockingHold().By != bert.By {
						t.Fatalf("held: %s", encodeState(st))
					}
					if r.send(id, "four").Status != protocol.SendQueued {
						t.Error("a message passed the hold")
					}
					must[protocol.QueueReleaseResult](
						r,
						r.do(anna, newCommand(protocol.DoQueueRelease, id, protocol.QueueReleaseData{})),
					)
					if st := r.state(id); st.Turn == nil || st.Turn.Message.Text != "three" {
						t.Errorf("released: %s", encodeState(st))
					}
				}
			})
		})
	}
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

func TestTheLatestChoiceForTheQueueReplacesKeep(t *testing.T) {
	for _, c := range []struct {
		choices []string
		holds   int
		queued  int
	}{
		{[]string{protocol.QueueKeep, protocol.QueueHold}, 1, 1},
		{[]string{"", protocol.QueueHold}, 1, 1},
		{[]string{protocol.QueueKeep, protocol.QueueClear}, 0, 0},
		{[]string{protocol.QueueHold, protocol.QueueKeep}, 1, 1},
		{[]string{protocol.QueueHold, protocol.QueueClear}, 1, 1},
		{[]string{protocol.QueueClear, protocol.QueueHold}, 0, 0},
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
			if st := r.state(id); len(st.Holds) != c.holds || len(st.Queue) != c.queued {
				t.Errorf("%v: %s", c.choices, encodeState(st))
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

package session

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// steer sends a message with delivery steer.
func (r *testHub) steer(who Caller, session, text string) protocol.SendResult {
	r.t.Helper()
	return must[protocol.SendResult](r, r.do(who, newCommand(protocol.DoSend, session, protocol.SendData{
		Text: text, Delivery: protocol.DeliverSteer,
	})))
}

// takeAll lets the agent take messages, and returns the texts of those without an outcome.
func (r *testHub) takeAll() []string {
	r.agents.run().take(func(protocol.Message) {})
	r.waitIdle()
	return r.agents.run().takenTexts()
}

// resolve lets the agent resolve the message that it took first.
func (r *testHub) resolve(outcome protocol.SteerOutcome) {
	r.agents.run().resolve(outcome)
	r.waitIdle()
}

// queued returns the texts of the queue, with a mark for delivery steer.
func (r *testHub) queued(session string) string {
	r.t.Helper()
	var list []string
	for _, m := range r.state(session).Queue {
		if m.Delivery != "" {
			m.Text += "*"
		}
		list = append(list, m.Text)
	}
	return strings.Join(list, " ")
}

// outcomes returns the messages that joined turns, and their outcomes.
func (r *testHub) outcomes(session string) string {
	r.t.Helper()
	var list []string
	texts := map[string]string{}
	for _, e := range r.events(session, false) {
		var d protocol.MessageResolvedData
		var m protocol.MessageSteeredData
		switch e.Type {
		case protocol.MessageSteered:
			_ = e.Decode(&m)
			texts[m.MessageID] = m.Text
			list = append(list, fmt.Sprintf("%s by %s", m.Text, m.By.Name))
		case protocol.MessageResolved:
			_ = e.Decode(&d)
			list = append(list, fmt.Sprintf("%s %s", texts[d.MessageID], d.Outcome))
		}
	}
	return strings.Join(list, ", ")
}

func steeringBubble(t *testing.T, f func(t *testing.T, r *testHub, id string)) {
	t.Helper()
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		r.agents.steers = true
		f(t, r, r.create())
	})
}

func TestAMessageJoinsTheTurnThatRuns(t *testing.T) {
	steeringBubble(t, func(t *testing.T, r *testHub, id string) {
		first := r.send(id, "first")
		r.send(id, "later")
		one, two := r.steer(bert, id, "one"), r.steer(anna, id, "two")
		for i, s := range []protocol.SendResult{one, two} {
			if s.Status != protocol.SendSteering || s.Turn != first.Turn || *s.Index != i || s.Reason != "" {
				t.Errorf("answer %d: %+v", i, s)
			}
		}
		if got := r.queued(id); got != "one* two* later" {
			t.Errorf("queue %q", got)
		}
		if got := fmt.Sprint(r.takeAll()); got != "[one two]" {
			t.Fatalf("the agent got %s", got)
		}
		if st := r.state(id); !st.Turn.Has(one.MessageID) || len(st.Turn.Sent()) != 2 || r.queued(id) != "later" {
			t.Errorf("state %s", encodeState(st))
		}
		r.resolve(protocol.SteerTakenIn)
		r.resolve(protocol.SteerTakenIn)
		if st := r.state(id); !st.Turn.Has(one.MessageID) || len(st.Turn.Sent()) != 0 {
			t.Errorf("state %s", encodeState(st))
		}
		r.agents.run().finish(agent.End{}, nil)
		r.waitIdle()
		if st := r.state(id); st.Turn == nil || st.Turn.Message.Text != "later" || r.queued(id) != "" {
			t.Errorf("the next turn: %s", encodeState(st))
		}
		if got := r.outcomes(id); got != "one by bert, two by anna, one taken_in, two taken_in" {
			t.Errorf("log %s", got)
		}
	})
}

func TestASteeredMessageIsSentOncePerKey(t *testing.T) {
	steeringBubble(t, func(t *testing.T, r *testHub, id string) {
		r.send(id, "first")
		c := keyedCommand(protocol.DoSend, id, "k", protocol.SendData{Text: "one", Delivery: protocol.DeliverSteer})
		first := must[protocol.SendResult](r, r.do(anna, c))
		r.takeAll()
		r.restart() // the agent does not resume
		again := must[protocol.SendResult](r, r.do(anna, c))
		if again.MessageID != first.MessageID || r.outcomes(id) != "one by anna, one unknown" {
			t.Errorf("%+v, %+v: %s", first, again, r.outcomes(id))
		}
	})
}

func TestWhereSteeringIsNotPossibleTheMessageIsFirstInTheQueue(t *testing.T) {
	for name, c := range map[string]struct {
		before func(r *testHub, id string)
		reason string
		queue  string
	}{
		"the agent takes none": {
			func(r *testHub, _ string) { r.agents.steers = false },
			"the agent takes no messages during a turn", "one two later",
		},
		"held": {
			func(r *testHub, id string) {
				r.do(bert, newCommand(protocol.DoQueueHold, id, protocol.QueueHoldData{}))
			},
			"the queue is held: user by bert", "one* two* later",
		},
		"no turn, and held": {
			func(r *testHub, id string) {
				r.do(bert, newCommand(protocol.DoQueueHold, id, protocol.QueueHoldData{}))
				r.agents.run().finish(agent.End{}, nil)
			},
			"no turn is running, and the queue is held: user by bert", "one two later",
		},
	} {
		t.Run(name, func(t *testing.T) {
			steeringBubble(t, func(t *testing.T, r *testHub, id string) {
				r.send(id, "first")
				r.send(id, "later")
				c.before(r, id)
				r.waitIdle()
				one, two := r.steer(anna, id, "one"), r.steer(anna, id, "two")
				if one.Status != protocol.SendQueued || *one.Index != 0 || one.Reason != c.reason || *two.Index != 1 {
					t.Errorf("%+v, %+v", one, two)
				}
				if got := r.queued(id); got != c.queue {
					t.Errorf("queue %q, want %q", got, c.queue)
				}
				if run := r.agents.run(); run != nil && len(r.takeAll()) > 0 {
					t.Error("the agent got a message")
				}
				must[protocol.QueueReleaseResult](
					r, r.do(bert, newCommand(protocol.DoQueueRelease, id, protocol.QueueReleaseData{})),
				)
				if name == "held" {
					if got := fmt.Sprint(r.takeAll()); got != "[one two]" {
						t.Errorf("after the release the agent got %s", got)
					}
					return
				}
				if run := r.agents.run(); run.turn.Message.Text == "first" {
					run.finish(agent.End{}, nil)
					r.waitIdle()
				}
				if run := r.agents.run(); run.turn.Message.Text != "one" || run.turn.Message.Delivery != "" {
					t.Errorf("the next turn: %+v", run.turn.Message)
				}
			})
		})
	}
	steeringBubble(t, func(t *testing.T, r *testHub, id string) {
		if one := r.steer(anna, id, "one"); one.Status != protocol.SendStarted || one.Turn == "" {
			t.Errorf("without a turn: %+v", one)
		}
		refused(r, r.do(anna, newCommand(protocol.DoSend, id, protocol.SendData{Text: "x", Delivery: "now"})),
			protocol.CodeInvalidMessage)
		later := time.Now().Add(time.Hour)
		refused(r, r.do(anna, newCommand(protocol.DoSend, id, protocol.SendData{
			Text: "x", Delivery: protocol.DeliverSteer, NotBefore: &later,
		})), protocol.CodeInvalidMessage)
	})
}

func TestAQueuedMessageIsTurnedIntoASteeredOneAndBack(t *testing.T) {
	steeringBubble(t, func(t *testing.T, r *testHub, id string) {
		r.send(id, "first")
		one, two := r.send(id, "one"), r.send(id, "two")
		steer := func(who Caller, m string) *testCall {
			return r.do(who, newCommand(protocol.DoQueueSteer, id, protocol.QueueSteerData{MessageID: m}))
		}
		s := must[protocol.SendResult](r, steer(anna, two.MessageID))
		if s.Status != protocol.SendSteering || s.MessageID != two.MessageID || r.queued(id) != "two* one" {
			t.Errorf("%+v: %s", s, r.queued(id))
		}
		must[protocol.Empty](r, r.do(anna, newCommand(protocol.DoQueueMove, id, protocol.QueueMoveData{
			MessageID: two.MessageID, Index: 1,
		})))
		if r.queued(id) != "one two" || len(r.takeAll()) > 0 {
			t.Errorf("moved back: %s", r.queued(id))
		}
		// A message that another user edits stays, and is delivered when the edit ends.
		hold := newCommand(protocol.DoQueueHold, id, protocol.QueueHoldData{MessageID: one.MessageID})
		must[protocol.QueueHoldResult](r, r.do(bert, hold))
		refused(r, steer(anna, one.MessageID), protocol.CodeConflict)
		must[protocol.SendResult](r, steer(bert, one.MessageID))
		must[protocol.SendResult](r, steer(anna, two.MessageID))
		if got := fmt.Sprint(r.takeAll(), r.queued(id)); got != "[two]one*" {
			t.Errorf("during the edit: %s", got)
		}
		must[protocol.Empty](r, r.do(bert, newCommand(protocol.DoQueueEdit, id, protocol.QueueEditData{
			MessageID: one.MessageID, Text: "edited",
		})))
		if got := fmt.Sprint(r.takeAll(), r.queued(id)); got != "[two edited]" {
			t.Errorf("after the edit: %s", got)
		}
		refused(r, steer(anna, one.MessageID), protocol.CodeNotFound)
		refused(r, r.do(anna, newCommand(protocol.DoQueueEdit, id, protocol.QueueEditData{
			MessageID: one.MessageID, Text: "too late",
		})), protocol.CodeNotFound)
	})
}

// Without a turn, a message that is moved before an edited one starts.
func TestAMessageSteeredPastAnEditedOneStarts(t *testing.T) {
	steeringBubble(t, func(t *testing.T, r *testHub, id string) {
		r.send(id, "first")
		edited, other := r.send(id, "edited"), r.send(id, "other")
		hold := newCommand(protocol.DoQueueHold, id, protocol.QueueHoldData{MessageID: edited.MessageID})
		must[protocol.QueueHoldResult](r, r.do(bert, hold))
		r.agents.run().finish(agent.End{}, nil)
		r.waitIdle()
		s := must[protocol.SendResult](r, r.do(anna, newCommand(protocol.DoQueueSteer, id, protocol.QueueSteerData{
			MessageID: other.MessageID,
		})))
		if st := r.state(id); s.Status != protocol.SendStarted || st.Turn == nil || s.Turn != st.Turn.Turn {
			t.Errorf("%+v: %s", s, encodeState(st))
		}
	})
}

func TestRefusedMessagesAreFirstAgain(t *testing.T) {
	steeringBubble(t, func(t *testing.T, r *testHub, id string) {
		r.send(id, "first")
		r.send(id, "later")
		r.steer(anna, id, "one")
		r.steer(anna, id, "two")
		r.takeAll()
		r.steer(anna, id, "three")
		r.resolve(protocol.SteerRefused)
		r.resolve(protocol.SteerRefused)
		if got := r.queued(id); got != "one two three* later" {
			t.Errorf("queue %q", got)
		}
		if got := fmt.Sprint(r.takeAll()); got != "[three]" {
			t.Errorf("then the agent got %s", got)
		}
		r.resolve(protocol.SteerTakenIn)
		r.agents.run().finish(agent.End{}, nil)
		r.waitIdle()
		if m := r.agents.run().turn.Message; m.Text != "one" || m.By.Name != "anna" {
			t.Errorf("the next turn: %+v", m)
		}
	})
}

// Messages that wait when the turn ends start turns: they were to join the one before.
func TestMessagesThatWaitWhenTheTurnEndsStartTurns(t *testing.T) {
	steeringBubble(t, func(t *testing.T, r *testHub, id string) {
		r.send(id, "first")
		r.steer(anna, id, "one")
		r.steer(anna, id, "two")
		r.agents.run().finish(agent.End{}, nil)
		r.waitIdle()
		if got := fmt.Sprint(r.agents.run().turn.Message.Text, r.takeAll(), r.queued(id)); got != "one[]two" {
			t.Errorf("%s", got)
		}
	})
}

func TestAMessageSentToAnAgentThatDiesIsUnknownAndNotSentAgain(t *testing.T) {
	for name, end := range map[string]func(r *testHub, id string){
		"the server is killed":  func(r *testHub, _ string) { r.kill() },
		"the server is stopped": func(r *testHub, _ string) { r.restart() },
		"the agent dies": func(r *testHub, _ string) {
			r.agents.run().finish(agent.End{}, fmt.Errorf("signal: killed"))
		},
		"an interrupt": func(r *testHub, id string) {
			r.do(anna, newCommand(protocol.DoInterrupt, id, protocol.InterruptData{}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			steeringBubble(t, func(t *testing.T, r *testHub, id string) {
				r.send(id, "first")
				r.steer(anna, id, "one")
				r.takeAll()
				r.steer(anna, id, "two")
				end(r, id)
				r.waitIdle()
				if got := r.outcomes(id); got != "one by anna, one unknown" {
					t.Errorf("log %s", got)
				}
				must[protocol.QueueReleaseResult](
					r, r.do(bert, newCommand(protocol.DoQueueRelease, id, protocol.QueueReleaseData{})),
				)
				if m := r.agents.run().turn.Message; m.Text != "two" || len(r.takeAll()) > 0 || r.queued(id) != "" {
					t.Errorf("the next turn: %+v, queue %q", m, r.queued(id))
				}
			})
		})
	}
}

// An agent that resumes turns saves its state with the outcome: without one it does not have the message.
func TestAResumedTurnGetsTheMessagesThatHaveNoOutcome(t *testing.T) {
	steeringBubble(t, func(t *testing.T, r *testHub, id string) {
		r.restart() // the next agent resumes
		r.agents.capabilities.Resumes = true
		r.send(id, "first")
		r.steer(anna, id, "one")
		r.steer(anna, id, "two")
		r.takeAll()
		r.resolve(protocol.SteerTakenIn)
		r.kill()
		if got := fmt.Sprint(r.takeAll()); got != "[two]" {
			t.Fatalf("the resumed agent got %s", got)
		}
		r.resolve(protocol.SteerTakenIn)
		if got := r.outcomes(id); got != "one by anna, two by anna, one taken_in, two taken_in" {
			t.Errorf("log %s", got)
		}
		r.steer(anna, id, "three")
		r.kill()
		if got := fmt.Sprint(r.takeAll()); got != "[three]" {
			t.Errorf("then it got %s", got)
		}
	})
}

func TestAMessageThatIsNotRecordedAsSentIsNotSent(t *testing.T) {
	steeringBubble(t, func(t *testing.T, r *testHub, id string) {
		r.send(id, "first")
		r.steer(anna, id, "one")
		r.failOnce()
		if run := r.agents.run(); len(r.takeAllOf(run)) > 0 {
			t.Error("the agent got the message")
		}
		time.Sleep(2 * time.Second)
		r.waitIdle()
		if m := r.agents.run().turn.Message; m.Text != "one" || r.outcomes(id) != "" {
			t.Errorf("the next turn: %+v, %s", m, r.outcomes(id))
		}
	})
}

// takeAllOf is takeAll for a run that may end.
func (r *testHub) takeAllOf(run *fakeRun) []string {
	run.take(func(protocol.Message) {})
	r.waitIdle()
	return run.takenTexts()
}

func TestRetryAndUndoCoverTheMessagesThatJoined(t *testing.T) {
	steeringBubble(t, func(t *testing.T, r *testHub, id string) {
		r.restart()
		r.agents.capable = func(context.Context, string) error { return nil }
		r.send(id, "first")
		for _, text := range []string{"one", "refused", "two"} {
			r.steer(anna, id, text)
		}
		r.takeAll()
		r.resolve(protocol.SteerTakenIn)
		r.resolve(protocol.SteerRefused)
		r.resolve(protocol.SteerTakenIn)
		refusedMessage := r.state(id).Queue[0].MessageID
		must[protocol.QueueRemoveResult](r, r.do(anna, newCommand(protocol.DoQueueRemove, id, protocol.QueueRemoveData{
			MessageID: refusedMessage,
		})))
		r.agents.run().finish(agent.End{}, nil)
		r.waitIdle()
		s := must[protocol.SendResult](r, r.do(bert, newCommand(protocol.DoRetry, id, protocol.Empty{})))
		if got := fmt.Sprint(r.agents.run().turn.Message.Text, r.takeAll()); s.Status != protocol.SendStarted || got != "first[one two]" {
			t.Errorf("retry: %+v, %s", s, got)
		}
		r.resolve(protocol.SteerTakenIn)
		r.resolve(protocol.SteerTakenIn)
		r.agents.run().finish(agent.End{}, nil)
		r.waitIdle()
		u := must[protocol.UndoResult](r, r.do(bert, newCommand(protocol.DoUndo, id, protocol.Empty{})))
		if u.Message.Text != "first" || len(u.Steered) != 2 || u.Steered[1].Text != "two" {
			t.Errorf("undo: %+v", u)
		}
	})
}

// A turn that is sent again behind a hold is one turn, after the release, and after a restart.
func TestARetryBehindAHoldIsOneTurn(t *testing.T) {
	for _, restart := range []bool{false, true} {
		steeringBubble(t, func(t *testing.T, r *testHub, id string) {
			r.restart()
			r.agents.capable = func(context.Context, string) error { return nil }
			r.send(id, "first")
			r.steer(anna, id, "one")
			r.steer(anna, id, "two")
			r.takeAll()
			r.resolve(protocol.SteerTakenIn)
			r.resolve(protocol.SteerTakenIn)
			r.do(bert, newCommand(protocol.DoQueueHold, id, protocol.QueueHoldData{}))
			r.send(id, "later")
			r.agents.run().finish(agent.End{}, nil)
			r.waitIdle()
			s := must[protocol.SendResult](r, r.do(bert, newCommand(protocol.DoRetry, id, protocol.Empty{})))
			if s.Status != protocol.SendQueued || r.queued(id) != "first one* two* later" {
				t.Fatalf("retry: %+v, queue %q", s, r.queued(id))
			}
			if restart {
				r.restart()
			}
			r.do(bert, newCommand(protocol.DoQueueRelease, id, protocol.QueueReleaseData{}))
			r.waitIdle()
			got := fmt.Sprint(r.agents.run().turn.Message.Text, r.takeAll())
			if got != "first[one two]" || r.queued(id) != "later" {
				t.Errorf("restart %v: the agent got %s, queue %q", restart, got, r.queued(id))
			}
		})
	}
}

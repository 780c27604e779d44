package queue

import (
	"fmt"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/server/session/record"
)

// startTurn starts a turn with a message.
func (r *rig) startTurn() {
	r.t.Helper()
	r.record(
		record.Event{Type: protocol.MessageUser, Data: protocol.MessageUserData{Message: protocol.Message{MessageID: "m"}}},
		record.Event{Type: protocol.TurnStarted, Data: protocol.TurnStartedData{MessageID: "m"}},
	)
	r.st.Turn.Turn = "t" // events of the rig have no turn
}

// addFirst adds a message with delivery steer and returns the answer.
func (r *rig) addFirst(text, cannot string) protocol.SendResult {
	r.t.Helper()
	m := protocol.Message{MessageID: text, Text: text, By: &anna, Delivery: protocol.DeliverSteer}
	e, result := r.q.AddFirst(r.st, m, cannot, r.now, r.limits)
	r.record(e)
	return result
}

// take sends what joins the turn, and returns the texts.
func (r *rig) take() []protocol.Message {
	r.t.Helper()
	taken, events := r.q.TakeSteered(r.st)
	r.record(events...)
	return taken
}

func (r *rig) resolve(id string, o protocol.SteerOutcome) {
	r.t.Helper()
	r.record(r.q.ResolveSteered(r.st, protocol.MessageResolvedData{MessageID: id, Outcome: o})...)
}

// want compares the queue, with a mark for messages that join the turn, and those of the turn with their
// outcomes.
func (r *rig) want(queue, turn string) {
	r.t.Helper()
	var queued, steered []string
	for _, m := range r.st.Queue {
		if m.Delivery != "" {
			m.Text += "*"
		}
		queued = append(queued, m.Text)
	}
	if r.st.Turn != nil {
		for _, m := range r.st.Turn.Steered {
			steered = append(steered, strings.TrimSpace(m.MessageID+" "+string(m.Outcome)))
		}
	}
	if got := strings.Join(queued, " "); got != queue {
		r.t.Errorf("queue %q, want %q", got, queue)
	}
	if got := strings.Join(steered, ", "); got != turn {
		r.t.Errorf("turn %q, want %q", got, turn)
	}
}

func TestMessagesJoinTheTurnInTheirOrderBeforeOthers(t *testing.T) {
	r := newRig(t)
	r.startTurn()
	_, _ = r.add("later")
	for i, text := range []string{"one", "two"} {
		if s := r.addFirst(text, ""); s.Status != protocol.SendSteering || *s.Index != i || s.Reason != "" {
			t.Errorf("%s: %+v", text, s)
		}
	}
	r.want("one* two* later", "")
	for i, m := range r.take() {
		if m.Delivery != "" || m.Text != []string{"one", "two"}[i] {
			t.Errorf("taken %+v", m)
		}
	}
	r.want("later", "one, two")
	if again, events := r.q.TakeSteered(r.st); again != nil || events != nil {
		t.Errorf("taken again: %+v", again)
	}
	r.resolve("one", protocol.SteerTakenIn)
	r.want("later", "one taken_in, two")
	for _, unknown := range []string{"one", "later", "none"} {
		if e := r.q.ResolveSteered(r.st, protocol.MessageResolvedData{MessageID: unknown}); e != nil {
			t.Errorf("%s is resolved again: %+v", unknown, e)
		}
	}
}

func TestWhereNoMessageJoinsItIsFirst(t *testing.T) {
	held := func(r *rig) {
		if _, err := do(r, bert, (*Queue).Hold, protocol.QueueHoldData{}); err != nil {
			r.t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		before        func(r *rig)
		cannot        string
		reason, queue string
	}{
		"no turn": {func(*rig) {}, "no turn is running", "no turn is running", "one two later"},
		"no turn, held": {
			held, "no turn is running", "no turn is running, and the queue is held: user by bert", "one two later",
		},
		"the agent takes none": {(*rig).startTurn, "it takes none", "it takes none", "one two later"},
		"held": {
			func(r *rig) { r.startTurn(); held(r) }, "", "the queue is held: user by bert", "one* two* later",
		},
		"too many joined": {
			func(r *rig) {
				r.startTurn()
				for i := range r.limits.Messages {
					r.st.Turn.Steered = append(r.st.Turn.Steered, protocol.Steered{
						Message: protocol.Message{MessageID: fmt.Sprint(i)}, Outcome: protocol.SteerTakenIn,
					})
				}
			}, "", "100 messages have joined this turn, the most that it takes", "one two later",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			_, _ = r.add("later")
			c.before(r)
			for i, text := range []string{"one", "two"} {
				if s := r.addFirst(text, c.cannot); s.Status != protocol.SendQueued || s.Reason != c.reason || *s.Index != i {
					t.Errorf("%s: %+v", text, s)
				}
			}
			if Steerable(r.st) || len(r.take()) > 0 {
				t.Error("a message joins the turn")
			}
			if r.st.Turn != nil {
				r.st.Turn.Steered = nil
			}
			r.want(c.queue, "")
		})
	}
}

func TestAQueuedMessageIsMadeToJoin(t *testing.T) {
	r := newRig(t)
	r.startTurn()
	_, _ = r.add("first")
	id, _ := r.add("second")
	steer := func(id string) protocol.SendResult {
		t.Helper()
		result, err := do(r, bert, (*Queue).Steer, protocol.QueueSteerData{MessageID: id})
		if err != nil {
			t.Fatal(err)
		}
		return result.(protocol.SendResult)
	}
	if s := steer(id); s.Status != protocol.SendSteering || *s.Index != 0 {
		t.Errorf("steered: %+v", s)
	}
	r.want("second* first", "")
	seq := r.st.Seq
	if s := steer(id); s.Status != protocol.SendSteering || r.st.Seq != seq {
		t.Errorf("again: %+v, %d events", s, r.st.Seq-seq)
	}
	if _, err := do(r, bert, (*Queue).Steer, protocol.QueueSteerData{MessageID: "none"}); err == nil {
		t.Error("a message that is not queued")
	}
	if _, err := do(r, anna, (*Queue).Hold, protocol.QueueHoldData{MessageID: id}); err != nil {
		t.Fatal(err)
	}
	if Steerable(r.st) || len(r.take()) > 0 {
		t.Error("a message that is edited joins")
	}
}

func TestRefusedMessagesKeepTheirOrder(t *testing.T) {
	r := newRig(t)
	r.startTurn()
	_, _ = r.add("later")
	for _, text := range []string{"one", "two", "three"} {
		r.addFirst(text, "")
	}
	r.take()
	r.addFirst("four", "")
	r.resolve("one", protocol.SteerRefused)
	r.resolve("two", protocol.SteerTakenIn)
	r.resolve("three", protocol.SteerRefused)
	r.want("one three four* later", "two taken_in")
	r.wantNext("")
	r.record(record.Event{Type: protocol.TurnEnded, Data: protocol.TurnEndedData{Reason: protocol.ReasonCompleted}})
	r.want("one three four later", "")
	r.wantNext("one")
}

// Of what was sent, it is not known whether the agent got it. What was not written is queued again.
func TestTheEndOfATurnResolvesItsMessages(t *testing.T) {
	r := newRig(t)
	r.startTurn()
	for _, text := range []string{"done", "sent", "one", "two"} {
		r.addFirst(text, "")
	}
	taken := r.take()
	r.resolve("done", protocol.SteerTakenIn)
	events := r.q.EndSteered(r.st, taken[2:])
	r.record(events...)
	r.want("one two", "done taken_in, sent unknown")
	if again := r.q.EndSteered(r.st, taken[2:]); again != nil {
		t.Errorf("resolved again: %+v", again)
	}
}

func TestAMessageJoinsTheTurnThatTheOneBeforeItStarts(t *testing.T) {
	r := newRig(t)
	_, _ = r.add("later")
	if _, err := do(r, bert, (*Queue).Hold, protocol.QueueHoldData{}); err != nil {
		t.Fatal(err)
	}
	r.addFirst("first", "no turn is running")
	for _, text := range []string{"one", "two"} {
		r.record(r.q.AddJoining(r.st, protocol.Message{MessageID: text, Text: text, By: &anna}, r.now))
	}
	r.want("first one* two* later", "")
	if _, err := do(r, bert, (*Queue).Release, protocol.QueueReleaseData{}); err != nil {
		t.Fatal(err)
	}
	r.wantNext("first")
	// Once it is removed, the next one starts a turn like any other.
	if _, err := do(r, bert, (*Queue).Remove, protocol.QueueRemoveData{MessageID: "first"}); err != nil {
		t.Fatal(err)
	}
	if m, _, ok := Next(r.st); !ok || m.Text != "one" || m.Delivery != "" {
		t.Errorf("next %+v", m)
	}
	r.limits.Messages = 3
	if err := r.limits.Check(r.st, &protocol.Message{MessageID: "three"}); protocol.CodeOf(err) != protocol.CodeQueueFull {
		t.Errorf("a full queue: %v", err)
	}
}

package queue

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/session/record"
)

var (
	anna = protocol.Actor{Name: "anna"}
	bert = protocol.Actor{Name: "bert"}
)

// A rig is a queue with the state of its session.
type rig struct {
	t      *testing.T
	q      Queue
	st     *protocol.State
	now    time.Time
	limits Limits
	ids    int
}

func newRig(t *testing.T) *rig {
	return &rig{
		t: t, st: &protocol.State{Session: "s"}, now: time.Unix(1e9, 0), limits: Limits{Messages: 100, Bytes: 4 << 20},
	}
}

// record applies events to the state.
func (r *rig) record(events ...record.Event) {
	r.t.Helper()
	for _, e := range events {
		if err := r.st.Apply(&protocol.Event{
			Session: "s", Seq: r.st.Seq + 1, Time: r.now, Type: e.Type, By: e.By, Data: protocol.MustEncode(e.Data),
		}); err != nil {
			r.t.Fatalf("apply %s: %v", e.Type, err)
		}
	}
}

func (r *rig) newID() string {
	r.ids++
	return fmt.Sprint("id", r.ids)
}

// add queues a message and returns its id.
func (r *rig) add(text string) (string, error) {
	m := protocol.Message{MessageID: r.newID(), Text: text, By: &anna}
	err := r.limits.Check(r.st, &m)
	if err == nil {
		e, _ := Add(r.st, m, false, r.now)
		r.record(e)
	}
	return m.MessageID, err
}

// do runs an operation of an actor, whose connection has the actor's name, and records its events.
func do[T any](
	r *rig, by protocol.Actor, op func(*Queue, *protocol.State, Caller, *T) (Change, error), d T,
) (any, error) {
	r.t.Helper()
	c, err := op(&r.q, r.st, Caller{
		By: by, Conn: by.Name, Now: r.now, HoldID: r.newID(), EditTime: time.Minute, Limits: r.limits,
	}, &d)
	r.record(c.Events...)
	return c.Result, err
}

// texts returns the texts of the queue.
func (r *rig) texts() string {
	var list []string
	for i := range r.st.Queue {
		list = append(list, r.st.Queue[i].Text)
	}
	return strings.Join(list, " ")
}

// wantNext fails the test unless a message is next; empty: none is.
func (r *rig) wantNext(text string) {
	r.t.Helper()
	m, _, ok := Next(r.st)
	if ok != (text != "") || m.Text != text {
		r.t.Errorf("next is %q, want %q: %s", m.Text, text, protocol.MustEncode(r.st))
	}
}

func TestAMessageEditedByAnActorIsRefusedToOthers(t *testing.T) {
	r := newRig(t)
	edited, _ := r.add("edited")
	other, _ := r.add("other")
	if _, err := do(r, anna, (*Queue).Hold, protocol.QueueHoldData{MessageID: edited}); err != nil {
		t.Fatal(err)
	}
	for name, run := range map[string]func() (any, error){
		"edit": func() (any, error) {
			return do(r, bert, (*Queue).Edit, protocol.QueueEditData{MessageID: edited, Text: "bert's"})
		},
		"move": func() (any, error) {
			return do(r, bert, (*Queue).Move, protocol.QueueMoveData{MessageID: edited, Index: 1})
		},
		"remove": func() (any, error) {
			return do(r, bert, (*Queue).Remove, protocol.QueueRemoveData{MessageID: edited})
		},
		"hold": func() (any, error) { return do(r, bert, (*Queue).Hold, protocol.QueueHoldData{MessageID: edited}) },
	} {
		_, err := run()
		if protocol.CodeOf(err) != protocol.CodeConflict || err.Error() != "anna is editing this message" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := do(r, bert, (*Queue).Edit, protocol.QueueEditData{MessageID: other, Text: "bert's"}); err != nil {
		t.Error(err)
	}
	if _, err := do(r, bert, (*Queue).Move, protocol.QueueMoveData{MessageID: other}); err != nil {
		t.Error(err)
	}
	if got := r.texts(); got != "bert's edited" {
		t.Errorf("queue %s", got)
	}
	if _, err := do(r, anna, (*Queue).Edit, protocol.QueueEditData{MessageID: edited, Text: "anna's"}); err != nil {
		t.Error(err)
	}
	if len(r.st.Holds) != 0 || !r.q.Empty() {
		t.Errorf("held after the edit: %+v", r.st.Holds)
	}
}

func TestOperationsOnWhatIsNotThere(t *testing.T) {
	r := newRig(t)
	if _, err := do(r, anna, (*Queue).Move, protocol.QueueMoveData{MessageID: "gone"}); protocol.CodeOf(err) !=
		protocol.CodeNotFound {
		t.Errorf("move: %v", err)
	}
	if _, err := do(r, anna, (*Queue).Release, protocol.QueueReleaseData{Hold: "gone"}); protocol.CodeOf(err) !=
		protocol.CodeNotFound {
		t.Errorf("release: %v", err)
	}
	got, err := do(r, anna, (*Queue).Remove, protocol.QueueRemoveData{MessageID: "gone"})
	if err != nil || got != (protocol.QueueRemoveResult{}) {
		t.Errorf("remove: %+v, %v", got, err)
	}
	if r.st.Seq != 0 {
		t.Error("recorded")
	}
}

func TestTheNextMessageIsTheFirstThatNoHoldStops(t *testing.T) {
	r := newRig(t)
	r.wantNext("")
	first, _ := r.add("first")
	_, _ = r.add("second")
	r.wantNext("first")
	if _, err := do(r, anna, (*Queue).Hold, protocol.QueueHoldData{MessageID: first}); err != nil {
		t.Fatal(err)
	}
	r.wantNext("")
	if !StartsNow(r.st, true) || StartsNow(r.st, false) {
		t.Error("a message in front of the edited one starts, one behind it does not")
	}
	if _, err := do(r, bert, (*Queue).Move, protocol.QueueMoveData{MessageID: r.st.Queue[1].MessageID}); err != nil {
		t.Fatal(err)
	}
	r.wantNext("second")
	if _, err := do(r, bert, (*Queue).Hold, protocol.QueueHoldData{}); err != nil {
		t.Fatal(err)
	}
	r.wantNext("")
	if StartsNow(r.st, true) {
		t.Error("a message passes the hold")
	}
	if _, err := do(r, bert, (*Queue).Release, protocol.QueueReleaseData{}); err != nil {
		t.Fatal(err)
	}
	if len(r.st.Holds) != 1 || r.st.Holds[0].Reason != protocol.HoldEdit {
		t.Errorf("holds after the release: %+v", r.st.Holds)
	}
	r.wantNext("second")
}

func TestAnOperationCanMakeAnotherMessageNext(t *testing.T) {
	for name, c := range map[string]struct {
		run  func(r *rig, held, other string) (any, error)
		next string
	}{
		"the other one moves in front": {func(r *rig, _, other string) (any, error) {
			return do(r, anna, (*Queue).Move, protocol.QueueMoveData{MessageID: other})
		}, "other"},
		"the held one moves behind it": {func(r *rig, held, _ string) (any, error) {
			return do(r, anna, (*Queue).Move, protocol.QueueMoveData{MessageID: held, Index: 7})
		}, "other"},
		"the held one is removed": {func(r *rig, held, _ string) (any, error) {
			return do(r, anna, (*Queue).Remove, protocol.QueueRemoveData{MessageID: held})
		}, "other"},
		"the held one was edited": {func(r *rig, held, _ string) (any, error) {
			return do(r, anna, (*Queue).Edit, protocol.QueueEditData{MessageID: held, Text: "edited"})
		}, "edited"},
		"the held one is released": {func(r *rig, _, _ string) (any, error) {
			return do(r, anna, (*Queue).Release, protocol.QueueReleaseData{})
		}, "held"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			held, _ := r.add("held")
			other, _ := r.add("other")
			if _, err := do(r, anna, (*Queue).Hold, protocol.QueueHoldData{MessageID: held}); err != nil {
				t.Fatal(err)
			}
			r.wantNext("")
			if _, err := c.run(r, held, other); err != nil {
				t.Fatal(err)
			}
			r.wantNext(c.next)
		})
	}
}

func TestAnEditHoldEndsAfterItsConnection(t *testing.T) {
	r := newRig(t)
	m, _ := r.add("text")
	if _, err := do(r, anna, (*Queue).Hold, protocol.QueueHoldData{MessageID: m}); err != nil {
		t.Fatal(err)
	}
	if !r.q.Edits("anna") || !r.q.Deadline().IsZero() {
		t.Error("a timeout while the connection lives")
	}
	end := r.now.Add(time.Minute)
	r.q.Disconnected("bert", end)
	r.q.Disconnected("anna", end)
	r.q.Disconnected("anna", end.Add(time.Hour)) // the first timeout holds
	if got := r.q.Deadline(); !got.Equal(end) {
		t.Errorf("deadline %s", got)
	}
	if events := r.q.Expire(r.st, end.Add(-1)); events != nil {
		t.Errorf("before the timeout: %+v", events)
	}
	hold := r.st.Holds[0].ID
	got, err := do(r, anna, (*Queue).Hold, protocol.QueueHoldData{MessageID: m}) // on a new connection
	if err != nil || got != (protocol.QueueHoldResult{Hold: hold}) || !r.q.Deadline().IsZero() {
		t.Errorf("held again: %+v, %v, deadline %s", got, err, r.q.Deadline())
	}
	r.q.Disconnected("anna", end)
	r.record(r.q.Expire(r.st, end)...)
	if len(r.st.Holds) != 0 || !r.q.Empty() {
		t.Errorf("after the timeout: %+v", r.st.Holds)
	}
	r.wantNext("text")
}

func TestAnEditHoldWithoutAKnownConnectionTimesOut(t *testing.T) {
	r := newRig(t)
	m, _ := r.add("text")
	if _, err := do(r, anna, (*Queue).Hold, protocol.QueueHoldData{MessageID: m}); err != nil {
		t.Fatal(err)
	}
	r.q = Queue{} // as after a restart
	end := r.now.Add(time.Minute)
	r.q.Adopt(r.st, end)
	if !r.q.Knows(r.st.Holds[0].ID) || !r.q.Deadline().Equal(end) {
		t.Error("not adopted")
	}
	if _, err := do(r, anna, (*Queue).Hold, protocol.QueueHoldData{MessageID: m}); err != nil || len(r.st.Holds) != 1 {
		t.Errorf("%v, holds %+v", err, r.st.Holds)
	}
	if !r.q.Deadline().IsZero() {
		t.Error("a second hold of the same actor does not move the first to its connection")
	}
}

func TestTheEndOfATurnKeepsHoldsOrClearsTheQueue(t *testing.T) {
	for _, c := range []struct {
		choice string
		queued []string
		left   string
		held   bool
	}{
		{"", []string{"a", "b"}, "a b", false},
		{protocol.QueueKeep, []string{"a", "b"}, "a b", false},
		{protocol.QueueClear, []string{"a", "b"}, "", false},
		{protocol.HoldInterrupt, []string{"a"}, "a", true},
		{protocol.HoldInterrupt, nil, "", false},
	} {
		r := newRig(t)
		for _, text := range c.queued {
			_, _ = r.add(text)
		}
		r.record(EndTurn(r.st, c.choice, "h", &bert)...)
		held := slices.ContainsFunc(r.st.Holds, func(h protocol.Hold) bool {
			return h.ID == "h" && h.Reason == c.choice && *h.By == bert
		})
		if r.texts() != c.left || held != c.held {
			t.Errorf("%+v: %q, holds %+v", c, r.texts(), r.st.Holds)
		}
	}
}

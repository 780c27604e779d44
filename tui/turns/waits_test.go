package turns

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// waitingTurn is a turn in which an agent asks at random times, and the seconds in which a request
// was pending.
type waitingTurn struct {
	events  []*protocol.Event
	waiting []bool // by second from the start
	seconds int
}

func (w *waitingTurn) at(second int) time.Time {
	return tuitest.Start.Add(time.Duration(second) * time.Second)
}

// add adds an event in the present second.
func (w *waitingTurn) add(typ protocol.Type, data any) {
	w.events = append(w.events, &protocol.Event{
		Seq: uint64(len(w.events) + 1), Turn: "t1", Type: typ, Time: w.at(w.seconds), Data: protocol.MustEncode(data),
	})
}

func drawWaitingTurn(t *rapid.T) *waitingTurn {
	w := &waitingTurn{}
	w.add(protocol.MessageUser, protocol.MessageUserData{})
	w.add(protocol.TurnStarted, protocol.TurnStartedData{})
	pending := []string{}
	for i := range rapid.IntRange(0, 12).Draw(t, "steps") {
		for range rapid.IntRange(0, 5).Draw(t, "seconds") {
			w.waiting = append(w.waiting, len(pending) > 0)
			w.seconds++
		}
		if len(pending) > 0 && rapid.Bool().Draw(t, "decides") {
			at := rapid.IntRange(0, len(pending)-1).Draw(t, "request")
			w.add(protocol.ApprovalResolved, protocol.ApprovalResolvedData{Request: pending[at]})
			pending = append(pending[:at:at], pending[at+1:]...)
			continue
		}
		id := fmt.Sprint("r", i)
		w.add(protocol.ApprovalRequested, protocol.Approval{Request: id})
		pending = append(pending, id)
	}
	return w
}

// Work and waiting add up to the time of a turn and of each part of it, and no second of work is one
// in which a request was pending. A page of history and the rest of the turn know the same.
func TestWorkAndWaitingAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWaitingTurn(t)
		cut := rapid.IntRange(1, len(w.events)).Draw(t, "cut")
		var whole, early, late Turns
		for i, e := range w.events {
			apply(t, &whole, e)
			part := &early
			if i >= cut {
				part = &late
			}
			apply(t, part, e)
		}
		if cut < len(w.events) {
			late.Prepend(&early, 0)
		} else {
			late = early
		}
		from := rapid.IntRange(0, w.seconds).Draw(t, "from")
		to := rapid.IntRange(from, w.seconds).Draw(t, "to")
		middle := rapid.IntRange(from, to).Draw(t, "middle")
		want := time.Duration(0)
		for _, waiting := range w.waiting[from:to] {
			if waiting {
				want += time.Second
			}
		}
		for name, turns := range map[string]*Turns{"whole": &whole, "joined": &late} {
			waits := turns.Waits()
			work, waited := waits.Split(protocol.TurnPart{}, w.at(from), w.at(to))
			if waited != want || work+waited != w.at(to).Sub(w.at(from)) {
				t.Fatalf("%s: %d to %d s: work %v, waiting %v, want waiting %v", name, from, to, work, waited, want)
			}
			first, _ := waits.Split(protocol.TurnPart{}, w.at(from), w.at(middle))
			second, _ := waits.Split(protocol.TurnPart{}, w.at(middle), w.at(to))
			if first+second != work {
				t.Fatalf("%s: work %v and %v, together %v", name, first, second, work)
			}
		}
	})
}

// waiting returns the waits of a turn from second 0 in which requests are pending from 10 to 40 s.
func waiting(requests ...protocol.Approval) *protocol.Waits {
	w := &waitingTurn{}
	var waits protocol.Waits
	for i := range requests {
		w.seconds = 10
		w.add(protocol.ApprovalRequested, requests[i])
		w.seconds = 40
		w.add(protocol.ApprovalResolved, protocol.ApprovalResolvedData{Request: requests[i].Request})
	}
	for _, e := range w.events {
		e.Task = requests[0].Task
		waits.Apply(e)
	}
	return &waits
}

func TestAPartWaitsForItsOwnRequests(t *testing.T) {
	sub := protocol.ApprovalContext{SubAgent: &protocol.SubAgent{Session: "s2"}}
	for _, test := range []struct {
		name string
		asks protocol.Approval
		part protocol.TurnPart
		want time.Duration
	}{
		{"the turn", protocol.Approval{Tool: "c1"}, protocol.TurnPart{}, 30 * time.Second},
		{"the tool call that asks", protocol.Approval{Tool: "c1"}, protocol.TurnPart{Tool: "c1"}, 30 * time.Second},
		{"another tool call", protocol.Approval{Tool: "c1"}, protocol.TurnPart{Tool: "c2"}, 0},
		{"the task that asks", protocol.Approval{Tool: "c1", Task: "1"}, protocol.TurnPart{Task: "1"}, 30 * time.Second},
		{"another task", protocol.Approval{Task: "1"}, protocol.TurnPart{Task: "2"}, 0},
		{"a sub-agent's call", protocol.Approval{ApprovalContext: sub}, protocol.TurnPart{Tool: "c1", SubAgent: "s2"}, 30 * time.Second},
		{"another call", protocol.Approval{ApprovalContext: sub}, protocol.TurnPart{Tool: "c2"}, 0},
		{"a request of no part", protocol.Approval{}, protocol.TurnPart{Tool: "c1", Task: "1"}, 30 * time.Second},
	} {
		test.asks.Request = "r1"
		work, waited := waiting(test.asks).Split(test.part, tuitest.Start, tuitest.Start.Add(time.Minute))
		if waited != test.want || work != time.Minute-test.want {
			t.Errorf("%s: work %v, waiting %v, want waiting %v", test.name, work, waited, test.want)
		}
	}
}

// A snapshot has the requests that are pending, and history pages the decided ones.
func TestASnapshotHasPendingRequests(t *testing.T) {
	var turns Turns
	turns.Reset(9, &protocol.State{
		Turn: &protocol.TurnState{Turn: "t1", Started: tuitest.Start},
		Approvals: []protocol.Approval{
			{Request: "r1", Turn: "t1", Asked: tuitest.Start.Add(time.Second)},
			{Request: "r2", Turn: "t0", Asked: tuitest.Start},
		},
	})
	if !turns.Waits().Pending(protocol.TurnPart{Task: "1"}) {
		t.Error("the request is not pending")
	}
	work, _ := turns.Waits().Split(protocol.TurnPart{}, tuitest.Start, tuitest.Start.Add(time.Hour))
	if work != time.Second {
		t.Errorf("got work of %v, want 1s", work)
	}
	resolved := protocol.MustEncode(protocol.ApprovalResolvedData{Request: "r1"})
	apply(t, &turns, &protocol.Event{
		Seq: 10, Turn: "t1", Type: protocol.ApprovalResolved, Time: tuitest.Start.Add(time.Minute), Data: resolved,
	})
	work, _ = turns.Waits().Split(protocol.TurnPart{}, tuitest.Start, tuitest.Start.Add(time.Hour))
	if work != time.Hour-59*time.Second || turns.Waits().Pending(protocol.TurnPart{}) {
		t.Errorf("got work of %v after the decision, want 59m01s", work)
	}
}

// An agent that reports how long a task took may count its waiting.
func TestATaskDoesNotCountItsWaitingAsWork(t *testing.T) {
	waits := waiting(protocol.Approval{Request: "r1", Task: "1"})
	for reported, want := range map[time.Duration]time.Duration{
		0: 30 * time.Second, time.Minute: 30 * time.Second, 20 * time.Second: 20 * time.Second,
	} {
		task := Task{
			Task: protocol.Task{ID: "1"}, Started: tuitest.Start, Ended: tuitest.Start.Add(time.Minute),
			Reported: reported, waits: waits,
		}
		if got := task.Worked(); got != want {
			t.Errorf("reported %v: got %v, want %v", reported, got, want)
		}
	}
}

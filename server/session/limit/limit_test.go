package limit

import (
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/session/record"
)

var (
	anna = protocol.Actor{Name: "anna"}
	bert = protocol.Actor{Name: "bert"}
)

// A rig is the limits of a session with its state.
type rig struct {
	Limits

	t      *testing.T
	st     *protocol.State
	choice *agent.AfterLimit
	stored int
	now    time.Time
}

func newRig(t *testing.T, c *agent.AfterLimit) *rig {
	r := &rig{t: t, st: &protocol.State{Session: "s"}, choice: c, now: time.Unix(1e9, 0)}
	r.Limits = Limits{Choice: &r.choice, Store: func() { r.stored++ }}
	return r
}

func (r *rig) record(events []record.Event) []record.Event {
	r.t.Helper()
	for _, e := range events {
		if err := r.st.Apply(&protocol.Event{
			Session: "s", Seq: r.st.Seq + 1, Time: r.now, Type: e.Type, By: e.By, Data: protocol.MustEncode(e.Data),
		}); err != nil {
			r.t.Fatalf("apply %s: %v", e.Type, err)
		}
	}
	return events
}

// end ends a turn at a limit.
func (r *rig) end(l agent.Limit) {
	r.t.Helper()
	r.record(r.End(r.st, &Ended{
		Limit: l, Message: protocol.Message{MessageID: "m1", ClientMessageID: "c1", Text: "first", By: &anna}, Now: r.now,
		HoldID: "h", NextID: "m2",
	}))
}

// due moves the time to the release of the hold and returns the events.
func (r *rig) due() []record.Event {
	r.t.Helper()
	h := r.st.LimitHold()
	if h == nil || h.Until == nil {
		r.t.Fatalf("no time: %s", protocol.MustEncode(r.st))
	}
	if events := r.Due(r.st, h.Until.Add(-1)); events != nil {
		r.t.Errorf("before the time: %+v", events)
	}
	r.now = *h.Until
	return r.record(r.Due(r.st, r.now))
}

// texts returns the texts of the queue with their users.
func (r *rig) texts() string {
	var list []string
	for i := range r.st.Queue {
		list = append(list, r.st.Queue[i].By.Name+": "+r.st.Queue[i].Text)
	}
	return strings.Join(list, ", ")
}

func TestTheMessageIsFirstAgainUnlessTheAgentTookItIn(t *testing.T) {
	for name, c := range map[string]struct {
		limit  agent.Limit
		choice *agent.AfterLimit
		queued bool
		texts  string
		held   bool
	}{
		"not taken in":            {agent.Limit{}, nil, false, "anna: first", true},
		"not taken in, queue":     {agent.Limit{}, nil, true, "anna: first, bert: next", true},
		"taken in":                {agent.Limit{TookIn: true}, nil, false, "", false},
		"taken in, queue":         {agent.Limit{TookIn: true}, nil, true, "bert: next", true},
		"continued, not taken in": {agent.Limit{}, &agent.AfterLimit{Most: 1, By: bert}, false, "anna: first", true},
		"continued, taken in": {
			agent.Limit{TookIn: true}, &agent.AfterLimit{Most: 1, By: bert}, false, "bert: " + continueText, true,
		},
		"no continuation, taken in": {
			agent.Limit{TookIn: true}, &agent.AfterLimit{Most: 1, Used: 1, By: bert}, false, "", false,
		},
		"continued, taken in, queue": {
			agent.Limit{TookIn: true},
			&agent.AfterLimit{Most: 1, By: bert}, true,
			"bert: " + continueText + ", bert: next", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, c.choice)
			if c.queued {
				r.st.Queue = []protocol.Message{{MessageID: "m9", Text: "next", By: &bert}}
			}
			r.end(c.limit)
			h := r.st.LimitHold()
			if r.texts() != c.texts || (h != nil) != c.held || r.st.NextQueued() != nil {
				t.Errorf("queue %q, hold %+v", r.texts(), h)
			}
			if continues := c.choice != nil && c.choice.Used == 0; h != nil && (h.Until != nil) != continues {
				t.Errorf("hold %+v", h)
			}
			if len(r.st.Queue) > 0 && (r.st.Queue[0].QueuedAt == nil && !c.queued || r.st.Queue[0].ClientMessageID != "") {
				t.Errorf("first %+v", r.st.Queue[0])
			}
		})
	}
}

func TestASessionContinuesAfterTheResetAndAtMostAsOftenAsChosen(t *testing.T) {
	r := newRig(t, &agent.AfterLimit{Most: 2, By: bert})
	for used := range 2 {
		reset := r.now.Add(3 * time.Hour)
		r.end(agent.Limit{ResetsAt: reset})
		h := r.st.LimitHold()
		if !h.ResetsAt.Equal(reset) || h.Until.Before(reset) || h.Until.After(reset.Add(maxDelay)) || *h.By != bert {
			t.Fatalf("hold %+v", h)
		}
		if at := r.st.NextScheduled(); at == nil || !at.Equal(*h.Until) {
			t.Errorf("next %v", at)
		}
		if events := r.due(); len(events) != 1 || events[0].Type != protocol.QueueReleased || *events[0].By != bert {
			t.Errorf("events %+v", events)
		}
		if r.choice.Used != used+1 || r.st.NextQueued() == nil {
			t.Errorf("choice %+v, %s", r.choice, protocol.MustEncode(r.st))
		}
		r.st.Queue = nil
	}
	r.end(agent.Limit{ResetsAt: r.now.Add(time.Hour)})
	if h := r.st.LimitHold(); h == nil || h.Until != nil || r.st.NextScheduled() != nil {
		t.Errorf("after two continuations: %+v", h)
	}
	if r.stored == 0 {
		t.Error("not stored")
	}
}

func TestAnUnknownOrPastResetDoublesTheWait(t *testing.T) {
	r := newRig(t, &agent.AfterLimit{Most: 100, By: bert})
	wait := func(reset time.Time, want time.Duration) {
		t.Helper()
		began := r.now
		r.end(agent.Limit{ResetsAt: reset})
		got := r.st.LimitHold().Until.Sub(began)
		if got < want || got > want+maxDelay {
			t.Errorf("waits %s, want %s", got, want)
		}
		r.due()
		r.st.Queue = nil
	}
	wait(time.Time{}, 15*time.Minute)
	wait(r.now.Add(-time.Hour), 30*time.Minute)
	wait(time.Time{}, time.Hour)
	wait(r.now.Add(5*time.Hour), 5*time.Hour)
	wait(time.Time{}, 15*time.Minute)
	wait(time.Time{}, 30*time.Minute)
	r.Passed()
	wait(time.Time{}, 15*time.Minute)
	for range 20 {
		r.end(agent.Limit{})
		r.due()
	}
	wait(time.Time{}, maxWait)
}

func TestTheRemovalOfTheMessageCancelsTheContinuation(t *testing.T) {
	for _, tookIn := range []bool{false, true} {
		r := newRig(t, &agent.AfterLimit{Most: 1, By: bert})
		r.st.Queue = []protocol.Message{{MessageID: "m9", Text: "next", By: &bert}}
		r.end(agent.Limit{TookIn: tookIn})
		r.record([]record.Event{{Type: protocol.QueueRemoved, Data: protocol.QueueRemovedData{MessageID: "m9"}}})
		if r.st.LimitHold().Until == nil {
			t.Error("the removal of another message cancels")
		}
		r.record([]record.Event{{Type: protocol.QueueRemoved, Data: protocol.QueueRemovedData{MessageID: "m2"}}})
		if h := r.st.LimitHold(); h == nil || h.Until != nil {
			t.Errorf("hold %+v", h)
		}
		if events := r.Due(r.st, r.now.Add(time.Hour)); events != nil {
			t.Errorf("events %+v", events)
		}
	}
}

func TestAUserWhoMayNotSendAnyMoreDoesNotContinue(t *testing.T) {
	r := newRig(t, &agent.AfterLimit{Most: 1, By: bert})
	r.Permits = func(c *agent.AfterLimit) bool { return c.By != bert }
	r.end(agent.Limit{})
	events := r.due()
	if h := r.st.LimitHold(); h == nil || h.Until != nil || r.texts() != "anna: first" || r.choice.Used != 0 {
		t.Errorf("hold %+v, queue %s", h, r.texts())
	}
	if !slices.ContainsFunc(events, func(e record.Event) bool { return e.Type == protocol.Notice }) {
		t.Errorf("events %+v", events)
	}
}

func TestAChoiceAppliesToTheQueueThatALimitHolds(t *testing.T) {
	r := newRig(t, nil)
	if events := r.Choose(r.st, nil, r.now, "x"); events != nil {
		t.Errorf("without a hold: %+v", events)
	}
	r.st.Queue = []protocol.Message{{MessageID: "m9", Text: "next", By: &anna}}
	reset := r.now.Add(time.Hour)
	r.end(agent.Limit{TookIn: true, ResetsAt: reset})
	choose := func(c *agent.AfterLimit, id string) *protocol.Hold {
		t.Helper()
		r.record(r.Choose(r.st, c, r.now, id))
		return r.st.LimitHold()
	}
	if h := choose(&agent.AfterLimit{Most: 1, By: bert}, "m3"); h.Until.Before(reset) || h.MessageID != "m3" {
		t.Errorf("chosen: %+v", h)
	}
	if h := choose(nil, "m4"); h == nil || h.Until != nil || !h.ResetsAt.Equal(reset) {
		t.Errorf("not chosen any more: %+v", h)
	}
	if h := choose(&agent.AfterLimit{Most: 1, By: anna}, "m5"); *h.By != anna || h.MessageID != "m3" {
		t.Errorf("chosen again: %+v", h)
	}
	if r.texts() != "bert: "+continueText+", anna: next" || len(r.st.Holds) != 1 {
		t.Errorf("queue %s, holds %+v", r.texts(), r.st.Holds)
	}
}

func TestValuesOfTheSetting(t *testing.T) {
	for value, want := range map[string]int{"0": 0, "3": 3, "1000": 1000, "": -1, "-1": -1, "1001": -1, "many": -1} {
		n, err := Choose(value)
		if want < 0 && protocol.CodeOf(err) != protocol.CodeInvalidMessage || want >= 0 && (err != nil || n != want) {
			t.Errorf("%q: %d, %v", value, n, err)
		}
	}
	settings := map[string]string{"model": "big", protocol.ContinueSetting: "3"}
	value, left, chosen := Take(settings)
	if value != "3" || !chosen || len(left) != 1 || len(settings) != 2 {
		t.Errorf("%q, %v, %v", value, left, chosen)
	}
	o := AddSetting(AddSetting(protocol.Options{}, nil), &agent.AfterLimit{Most: 7})
	if len(o.Settings) != 1 || o.Settings[0].Value != "7" || len(o.Settings[0].Choices) != 5 {
		t.Errorf("%+v", o.Settings)
	}
}

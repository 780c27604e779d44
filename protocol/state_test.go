package protocol

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// A step is an event and its effect: the fields of the state that it changes, null where it removes
// one.
type step struct {
	typ              Type
	turn, task, data string
	by               *Actor
	want             string
}

func TestEveryEventChangesTheStateAsItSays(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, steps := range map[string][]step{
		"the session": {
			{typ: SessionCreated, data: `{"name":"n","title":"t","agent":"a","cwd":"/w"}`, want: `{"session":"s","name":"n","title":"t","agent":"a","cwd":"/w","created":"2026-01-02T03:04:05Z"}`},
			{typ: SessionUpdated, data: `{"name":"m"}`, want: `{"name":"m"}`},
			{typ: SessionUpdated, data: `{"title":"u"}`, want: `{"title":"u"}`},
			{typ: SessionUpdated, data: `{"agent":"b"}`, want: `{"agent":"b"}`},
			{typ: SessionUpdated, data: `{"name":""}`, want: `{"name":null}`},
			{typ: SessionUpdated, data: `{"labels":{"a":"1","b":"2"}}`, want: `{"labels":{"a":"1","b":"2"}}`},
			{typ: SessionUpdated, data: `{"labels":{"a":"","b":"3"}}`, want: `{"labels":{"b":"3"}}`},
			{typ: AgentOptions, data: `{"name":"x"}`, want: `{"options":{"name":"x"}}`},
			{
				typ: AgentOptions, data: `{"settings":[{"id":"m","value":"1"},{"id":"n"}]}`,
				want: `{"options":{"settings":[{"id":"m","value":"1","default":"1"},{"id":"n"}]}}`,
			},
			{
				typ: AgentOptions, data: `{"settings":[{"id":"m","value":"2"},{"id":"n","value":"3","default":"4"}]}`,
				want: `{"options":{"settings":[{"id":"m","value":"2","default":"1"},{"id":"n","value":"3","default":"4"}]}}`,
			},
			{typ: UsageUpdated, data: `{"input":3}`, want: `{"usage":{"input":3}}`},
			{typ: Notice, data: `{"text":"x"}`, want: `{}`},
			{typ: SessionClosed, data: `{}`, want: `{"closed":true}`},
		},
		"a turn": {
			{typ: MessageUser, turn: "t1", by: &Actor{Name: "ann"}, data: `{"message_id":"m1","text":"x"}`, want: `{"turn":{"turn":"t1","message":{"message_id":"m1","text":"x","by":{"name":"ann"}},"started":"2026-01-02T03:04:05Z","first":1}}`},
			{typ: TextStart, turn: "t1", task: "k", data: `{"part":"p"}`, want: `{"turn":{"turn":"t1","message":{"message_id":"m1","text":"x","by":{"name":"ann"}},"started":"2026-01-02T03:04:05Z","first":1,"parts":[{"part":"p","kind":"text","task":"k"}]}}`},
			{typ: TurnEnded, turn: "t1", data: `{"reason":"error","code":"timeout","message":"late","duration_ms":5}`, want: `{"turn":null,"turns":1,"last":{"turn":"t1","reason":"error","code":"timeout","message":"late","ended":"2026-01-02T03:04:05Z"},"history":{"last_message_id":"t1","last_message_at":"2026-01-02T03:04:05Z"}}`},
			{typ: TextStart, data: `{"part":"late"}`, want: `{}`},
			{typ: TextEnd, data: `{"part":"late"}`, want: `{}`},
			{typ: ToolStarted, data: `{"tool":"late"}`, want: `{}`},
			{typ: ToolEnded, data: `{"tool":"late","status":"completed"}`, want: `{}`},
			{typ: MessageUser, turn: "t2", by: &Actor{Name: "ann"}, data: `{"message_id":"m2","text":"y","by":{"name":"bob"}}`, want: `{"turn":{"turn":"t2","message":{"message_id":"m2","text":"y","by":{"name":"bob"}},"started":"2026-01-02T03:04:05Z","first":8}}`},
		},
		"the queue": {
			{typ: QueueAdded, data: `{"message_id":"a","text":"1"}`, want: `{"queue":[{"message_id":"a","text":"1"}]}`},
			{
				typ: QueueAdded, data: `{"message_id":"b","text":"2"}`,
				want: `{"queue":[{"message_id":"a","text":"1"},{"message_id":"b","text":"2"}]}`,
			},
			{typ: QueueAdded, data: `{"message_id":"c","text":"3","index":0}`, want: `{"queue":[{"message_id":"c","text":"3"},{"message_id":"a","text":"1"},{"message_id":"b","text":"2"}]}`},
			{typ: QueueUpdated, data: `{"message_id":"c","text":"4","parts":[{"type":"text","text":"p"}]}`, want: `{"queue":[{"message_id":"c","text":"4","parts":[{"type":"text","text":"p"}]},{"message_id":"a","text":"1"},{"message_id":"b","text":"2"}]}`},
			{typ: QueueUpdated, data: `{"message_id":"gone","text":"4"}`, want: `{}`},
			{typ: QueueUpdated, data: `{"message_id":"c","text":"3"}`, want: `{"queue":[{"message_id":"c","text":"3"},{"message_id":"a","text":"1"},{"message_id":"b","text":"2"}]}`},
			{typ: QueueMoved, data: `{"message_id":"c","index":1}`, want: `{"queue":[{"message_id":"a","text":"1"},{"message_id":"c","text":"3"},{"message_id":"b","text":"2"}]}`},
			{typ: QueueMoved, data: `{"message_id":"a","index":9}`, want: `{"queue":[{"message_id":"c","text":"3"},{"message_id":"b","text":"2"},{"message_id":"a","text":"1"}]}`},
			{typ: QueueMoved, data: `{"message_id":"b","index":-1}`, want: `{"queue":[{"message_id":"b","text":"2"},{"message_id":"c","text":"3"},{"message_id":"a","text":"1"}]}`},
			{typ: QueueMoved, data: `{"message_id":"gone","index":1}`, want: `{}`},
			{
				typ: QueueHeld, data: `{"id":"h1","reason":"edit","message_id":"c"}`,
				want: `{"holds":[{"id":"h1","reason":"edit","message_id":"c"}]}`,
			},
			{typ: QueueHeld, data: `{"id":"h2","reason":"edit","message_id":"a"}`, want: `{"holds":[{"id":"h1","reason":"edit","message_id":"c"},{"id":"h2","reason":"edit","message_id":"a"}]}`},
			{typ: QueueHeld, data: `{"id":"h3","reason":"user","message_id":"c"}`, want: `{"holds":[{"id":"h1","reason":"edit","message_id":"c"},{"id":"h2","reason":"edit","message_id":"a"},{"id":"h3","reason":"user","message_id":"c"}]}`},
			{typ: QueueRemoved, data: `{"message_id":"gone","reason":"removed"}`, want: `{}`},
			{typ: QueueRemoved, data: `{"message_id":"c","reason":"started"}`, want: `{"queue":[{"message_id":"b","text":"2"},{"message_id":"a","text":"1"}],"holds":[{"id":"h2","reason":"edit","message_id":"a"},{"id":"h3","reason":"user","message_id":"c"}]}`},
			{
				typ: QueueReleased, data: `{"holds":["h3","hx"]}`,
				want: `{"holds":[{"id":"h2","reason":"edit","message_id":"a"}]}`,
			},
			{typ: QueueAdded, data: `{"message_id":"d","text":"5","index":-1}`, want: `{"queue":[{"message_id":"d","text":"5"},{"message_id":"b","text":"2"},{"message_id":"a","text":"1"}]}`},
			{typ: QueueAdded, data: `{"message_id":"e","text":"6","index":9}`, want: `{"queue":[{"message_id":"d","text":"5"},{"message_id":"b","text":"2"},{"message_id":"a","text":"1"},{"message_id":"e","text":"6"}]}`},
		},
		"approvals and rules": {
			{typ: ApprovalRequested, turn: "t1", task: "k", data: `{"request":"r1","kind":"tool","title":"x","options":[],"asked":"2026-01-02T03:04:05Z"}`, want: `{"approvals":[{"request":"r1","kind":"tool","title":"x","options":[],"asked":"2026-01-02T03:04:05Z","turn":"t1","task":"k"}]}`},
			{typ: ApprovalExplained, turn: "t1", data: `{"request":"r1","text":"so"}`, want: `{"approvals":[{"request":"r1","kind":"tool","title":"x","options":[],"asked":"2026-01-02T03:04:05Z","turn":"t1","task":"k","explained":["so"]}]}`},
			{typ: ApprovalExplained, turn: "t1", data: `{"request":"gone","text":"so"}`, want: `{}`},
			{typ: ApprovalRequested, data: `{"request":"r2","kind":"tool","title":"y","options":[],"asked":"2026-01-02T03:04:05Z"}`, want: `{"approvals":[{"request":"r1","kind":"tool","title":"x","options":[],"asked":"2026-01-02T03:04:05Z","turn":"t1","task":"k","explained":["so"]},{"request":"r2","kind":"tool","title":"y","options":[],"asked":"2026-01-02T03:04:05Z"}]}`},
			{typ: ApprovalResolved, data: `{"request":"r1","outcome":"allowed","rule":{"id":"u1","kind":"tool","subject":"x","scope":"x","by":{"name":"ann"},"at":"2026-01-02T03:04:05Z"}}`, want: `{"approvals":[{"request":"r2","kind":"tool","title":"y","options":[],"asked":"2026-01-02T03:04:05Z"}],"rules":[{"id":"u1","kind":"tool","subject":"x","scope":"x","by":{"name":"ann"},"at":"2026-01-02T03:04:05Z"}]}`},
			{typ: ApprovalResolved, data: `{"request":"r2","outcome":"denied"}`, want: `{"approvals":null}`},
			{typ: SessionUpdated, data: `{"revoked":"other"}`, want: `{}`},
			{typ: SessionUpdated, data: `{"revoked":"u1"}`, want: `{"rules":null}`},
		},
		"a plan": {
			{typ: TaskStarted, data: `{"task":"k1"}`, want: `{}`},
			{typ: PlanFailed, data: `{}`, want: `{}`},
			{typ: PlanStarted, data: `{"question":"q"}`, want: `{"plan":{"status":"running","question":"q"}}`},
			{typ: PlanUpdated, data: `{"tasks":[{"id":"k1","title":"1"}],"summary":"z"}`, want: `{"plan":{"status":"running","question":"q","summary":"z","tasks":[{"id":"k1","title":"1"}]}}`},
			{typ: PlanCompleted, data: `{"tasks":[{"id":"k1","title":"1"},{"id":"k2","title":"2"}]}`, want: `{"plan":{"status":"completed","question":"q","summary":"z","tasks":[{"id":"k1","title":"1"},{"id":"k2","title":"2"}]}}`},
			{typ: TaskStarted, data: `{"task":"k2"}`, want: `{"plan":{"status":"completed","question":"q","summary":"z","tasks":[{"id":"k1","title":"1"},{"id":"k2","title":"2","status":"running"}]}}`},
			{typ: TaskProgress, data: `{"task":"k2","message":"half"}`, want: `{}`},
			{typ: TaskFailed, data: `{"task":"k2"}`, want: `{"plan":{"status":"completed","question":"q","summary":"z","tasks":[{"id":"k1","title":"1"},{"id":"k2","title":"2","status":"failed"}]}}`},
			{typ: TaskRestarted, data: `{"task":"k2"}`, want: `{"plan":{"status":"completed","question":"q","summary":"z","tasks":[{"id":"k1","title":"1"},{"id":"k2","title":"2","status":"pending"}]}}`},
			{typ: TaskCancelled, data: `{"task":"k2"}`, want: `{"plan":{"status":"completed","question":"q","summary":"z","tasks":[{"id":"k1","title":"1"},{"id":"k2","title":"2","status":"cancelled"}]}}`},
			{typ: TaskCompleted, data: `{"task":"k1"}`, want: `{"plan":{"status":"completed","question":"q","summary":"z","tasks":[{"id":"k1","title":"1","status":"completed"},{"id":"k2","title":"2","status":"cancelled"}]}}`},
			{typ: PlanStarted, data: `{"question":"w"}`, want: `{"plan":{"status":"running","question":"w"}}`},
			{typ: PlanInvalid, data: `{}`, want: `{"plan":{"status":"invalid","question":"w"}}`},
			{typ: PlanCancelled, data: `{}`, want: `{"plan":{"status":"cancelled","question":"w"}}`},
			{typ: PlanFailed, data: `{}`, want: `{"plan":{"status":"failed","question":"w"}}`},
		},
		"a plan without plan.started": {
			{
				typ: PlanCompleted, data: `{"tasks":[{"id":"k1","title":"1"}]}`,
				want: `{"plan":{"status":"completed","tasks":[{"id":"k1","title":"1"}]}}`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &State{}
			for i, e := range steps {
				before := members(t, s)
				event := &Event{
					Session: "s", Seq: s.Seq + 1, Time: at, Turn: e.turn, Task: e.task, Type: e.typ,
					By: e.by, Data: json.RawMessage(e.data),
				}
				if err := s.Apply(event); err != nil {
					t.Fatalf("%d %s: %v", i+1, e.typ, err)
				}
				after := members(t, s)
				got := map[string]any{}
				for k := range before {
					if _, kept := after[k]; !kept {
						got[k] = nil
					}
				}
				for k, v := range after {
					if !reflect.DeepEqual(before[k], v) {
						got[k] = v
					}
				}
				var want map[string]any
				if err := json.Unmarshal([]byte(e.want), &want); err != nil {
					t.Fatal(err)
				}
				want["seq"] = float64(i + 1)
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%d %s %s changed\n%s, want\n%s", i+1, e.typ, e.data, MustEncode(got), MustEncode(want))
				}
			}
		})
	}
}

func members(t *testing.T, v any) (m map[string]any) {
	t.Helper()
	if err := json.Unmarshal(MustEncode(v), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestWhatIsOpenInATurnIsKnownUntilItEnds(t *testing.T) {
	s := &State{Turn: &TurnState{Turn: "t"}}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i, c := range []struct {
		typ                Type
		data, parts, tools string
	}{
		{TextStart, `{"part":"p"}`, `[{"part":"p","kind":"text","task":"k"}]`, `null`},
		{TextStart, `{"part":"p"}`, `[{"part":"p","kind":"text","task":"k"}]`, `null`}, // repeated
		{ReasoningStart, `{"part":"p"}`, `[{"part":"p","kind":"text","task":"k"},{"part":"p","kind":"reasoning","task":"k"}]`, `null`},
		{TextStart, `{"part":"q"}`, `[{"part":"p","kind":"text","task":"k"},{"part":"p","kind":"reasoning","task":"k"},{"part":"q","kind":"text","task":"k"}]`, `null`},
		{TextEnd, `{"part":"p"}`, `[{"part":"p","kind":"reasoning","task":"k"},{"part":"q","kind":"text","task":"k"}]`, `null`},
		{ReasoningEnd, `{"part":"p"}`, `[{"part":"q","kind":"text","task":"k"}]`, `null`},
		{TextEnd, `{"part":"q"}`, `[]`, `null`},
		{ToolStarted, `{"tool":"a","name":"n"}`, `[]`, `[{"tool":"a","name":"n","task":"k","parent":"up","started":"2026-01-02T03:04:05Z"}]`},
		{ToolStarted, `{"tool":"a","title":"t","kind":"read"}`, `[]`, `[{"tool":"a","name":"n","kind":"read","title":"t","task":"k","parent":"up","started":"2026-01-02T03:04:05Z"}]`},
		{ToolStarted, `{"tool":"b"}`, `[]`, `[{"tool":"a","name":"n","kind":"read","title":"t","task":"k","parent":"up","started":"2026-01-02T03:04:05Z"},{"tool":"b","task":"k","parent":"up","started":"2026-01-02T03:04:05Z"}]`},
		{
			ToolEnded, `{"tool":"a","status":"completed"}`, `[]`,
			`[{"tool":"b","task":"k","parent":"up","started":"2026-01-02T03:04:05Z"}]`,
		},
	} {
		e := &Event{
			Session: "s", Seq: s.Seq + 1, Turn: "t", Task: "k", Parent: "up", Time: at, Type: c.typ,
			Data: json.RawMessage(c.data),
		}
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
		if parts, tools := string(MustEncode(s.Turn.Parts)), string(MustEncode(s.Turn.Tools)); parts != c.parts ||
			tools != c.tools {
			t.Errorf("%d %s %s:\n%s\n%s, want\n%s\n%s", i+1, c.typ, c.data, parts, tools, c.parts, c.tools)
		}
	}
}

func TestTheStatusIsWhatTheSessionIsDoing(t *testing.T) {
	turn, asked := &TurnState{}, []Approval{{Request: "r"}}
	for _, c := range []struct {
		s    State
		want Status
	}{
		{State{}, Idle},
		{State{Approvals: asked}, Waiting}, // of a sub-agent
		{State{Turn: turn}, Running},
		{State{Turn: turn, Approvals: asked}, Waiting},
		{State{Turn: turn, Closed: true}, Closed},
		{State{Closed: true}, Closed},
	} {
		if got := c.s.Status(); got != c.want {
			t.Errorf("%s is %s, want %s", MustEncode(c.s), got, c.want)
		}
	}
}

func TestWhatAStateHoldsIsFoundByItsNameAlone(t *testing.T) {
	s := &State{
		QueueState: QueueState{
			Queue: []Message{{MessageID: "a"}, {MessageID: "b"}}, Scheduled: []Message{{MessageID: "c"}},
		},
		Approvals: []Approval{{Request: "r"}, {Request: "q"}},
		Rules: []Rule{
			{ID: "1", Kind: "tool", Subject: "x"},
			{ID: "2", Kind: "command", Subject: "y"},
			{ID: "3", Kind: "tool", Subject: "y"},
		},
	}
	if i, j := s.QueueIndex("b"), s.QueueIndex("c"); i != 1 || j != -1 {
		t.Errorf("b is at %d, c at %d", i, j)
	}
	if i, j := s.ScheduledIndex("c"), s.ScheduledIndex("b"); i != 0 || j != -1 {
		t.Errorf("scheduled: c is at %d, b at %d", i, j)
	}
	if a := s.PendingApproval("q"); a == nil || a.Request != "q" {
		t.Errorf("q: %v", a)
	}
	if a := s.PendingApproval("gone"); a != nil {
		t.Errorf("a removed request: %v", a)
	}
	if r := s.FindRule("tool", "y"); r == nil || r.ID != "3" {
		t.Errorf("the rule for tool y: %v", r)
	}
	if r := s.FindRule("command", "x"); r != nil {
		t.Errorf("a rule for command x: %v", r)
	}
}

func TestTheNextMessageStartsWhenNothingIsInItsWay(t *testing.T) {
	queue := []Message{{MessageID: "a"}}
	for _, c := range []struct {
		name string
		s    State
		want bool
	}{
		{"queued", State{QueueState: QueueState{Queue: queue}}, true},
		{"nothing queued", State{}, false},
		{"a turn runs", State{QueueState: QueueState{Queue: queue}, Turn: &TurnState{}}, false},
		{"closed", State{QueueState: QueueState{Queue: queue}, Closed: true}, false},
		{
			"an edit of what is not queued",
			State{QueueState: QueueState{Queue: queue, Holds: []Hold{{Reason: HoldEdit, MessageID: "b"}}}},
			true,
		},
		{
			"a hold behind an edit of another",
			State{QueueState: QueueState{
				Queue: queue, Holds: []Hold{{Reason: HoldEdit, MessageID: "b"}, {Reason: HoldInterrupt}},
			}},
			false,
		},
	} {
		if m := c.s.NextQueued(); (m != nil) != c.want {
			t.Errorf("%s: next is %v", c.name, m)
		}
	}
	if (&State{QueueState: QueueState{Holds: []Hold{{Reason: HoldEdit, MessageID: "b"}}}}).BlockingHold() != nil {
		t.Error("an edit blocks an empty queue")
	}
}

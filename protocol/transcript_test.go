package protocol

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"
)

// apply applies events to a transcript, one a second, in turn t unless they name another.
func apply(t *testing.T, tr *Transcript, e Event) []*Item {
	t.Helper()
	e.Session, e.Time = "s", time.Unix(int64(e.Seq), 0).UTC()
	if e.Turn == "" {
		e.Turn = "t"
	}
	changed, err := tr.Apply(&e)
	if err != nil {
		t.Fatal(err)
	}
	if tr.Seq != e.Seq {
		t.Fatalf("after event %d the transcript is at %d", e.Seq, tr.Seq)
	}
	return changed
}

func TestEveryEventOfATurnChangesItsItem(t *testing.T) {
	for name, steps := range map[string][]struct {
		typ          Type
		by           *Actor
		task, parent string
		data         string
		want         string // the items that changed
	}{
		"text": {
			{typ: TextStart, task: "k", parent: "up", data: `{"part":"p","agent":"a"}`, want: `[{"kind":"text","id":"p","task":"k","parent":"up","agent":"a","seq":2,"started":"1970-01-01T00:00:02Z","open":true}]`},
			{typ: TextDelta, task: "k", parent: "up", data: `{"part":"p","text":"one "}`, want: `[{"kind":"text","id":"p","task":"k","parent":"up","agent":"a","seq":2,"started":"1970-01-01T00:00:02Z","open":true,"text":"one "}]`},
			{typ: TextDelta, data: `{"part":"p","text":"two"}`, want: `[{"kind":"text","id":"p","task":"k","parent":"up","agent":"a","seq":2,"started":"1970-01-01T00:00:02Z","open":true,"text":"one two"}]`},
			{typ: ReasoningDelta, data: `{"part":"p","text":"hm"}`, want: `[{"kind":"reasoning","id":"p","seq":2,"started":"1970-01-01T00:00:01Z","open":true,"text":"hm"}]`},
			{typ: ReasoningStart, data: `{"part":"r","agent":"b"}`, want: `[{"kind":"reasoning","id":"r","agent":"b","seq":6,"started":"1970-01-01T00:00:06Z","open":true}]`},
			{typ: TextEnd, data: `{"part":"p"}`, want: `[{"kind":"text","id":"p","task":"k","parent":"up","agent":"a","seq":2,"started":"1970-01-01T00:00:02Z","text":"one two"}]`},
			{typ: ReasoningEnd, data: `{"part":"r"}`, want: `[{"kind":"reasoning","id":"r","agent":"b","seq":6,"started":"1970-01-01T00:00:06Z"}]`},
			{typ: TurnEnded, data: `{"reason":"interrupted","duration_ms":7}`, want: `[{"kind":"reasoning","id":"p","seq":2,"started":"1970-01-01T00:00:01Z","text":"hm"}]`},
		},
		"tools": {
			{typ: ToolStarted, data: `{"tool":"c","name":"n"}`, want: `[{"kind":"tool","id":"c","seq":2,"started":"1970-01-01T00:00:02Z","open":true,"tool":{"name":"n"}}]`},
			{typ: ToolInput, data: `{"tool":"c","text":"{\"a\""}`, want: `[{"kind":"tool","id":"c","seq":2,"started":"1970-01-01T00:00:02Z","open":true,"tool":{"name":"n","input_text":"{\"a\""}}]`},
			{typ: ToolInput, data: `{"tool":"c","text":":1}","input":{"a":1}}`, want: `[{"kind":"tool","id":"c","seq":2,"started":"1970-01-01T00:00:02Z","open":true,"tool":{"name":"n","input":{"a":1},"input_text":"{\"a\":1}"}}]`},
			{typ: ToolInput, data: `{"tool":"c","text":"!"}`, want: `[{"kind":"tool","id":"c","seq":2,"started":"1970-01-01T00:00:02Z","open":true,"tool":{"name":"n","input":{"a":1},"input_text":"{\"a\":1}!"}}]`},
			{typ: ToolStarted, data: `{"tool":"c","kind":"read","title":"t","input":{"b":2},"locations":[{"path":"/f"}]}`, want: `[{"kind":"tool","id":"c","seq":2,"started":"1970-01-01T00:00:02Z","open":true,"tool":{"name":"n","kind":"read","title":"t","input":{"b":2},"input_text":"{\"a\":1}!","locations":[{"path":"/f"}]}}]`},
			{typ: ToolStarted, data: `{"tool":"c"}`, want: `[{"kind":"tool","id":"c","seq":2,"started":"1970-01-01T00:00:02Z","open":true,"tool":{"name":"n","kind":"read","title":"t","input":{"b":2},"input_text":"{\"a\":1}!","locations":[{"path":"/f"}]}}]`},
			{typ: ToolOutput, data: `{"tool":"d","text":"x","content":[{"type":"text","text":"1"}]}`, want: `[{"kind":"tool","id":"d","seq":7,"started":"1970-01-01T00:00:01Z","open":true,"text":"x","tool":{"content":[{"type":"text","text":"1"}]}}]`},
			{typ: ToolOutput, data: `{"tool":"d","text":"y","content":[{"type":"text","text":"2"}]}`, want: `[{"kind":"tool","id":"d","seq":7,"started":"1970-01-01T00:00:01Z","open":true,"text":"xy","tool":{"content":[{"type":"text","text":"1"},{"type":"text","text":"2"}]}}]`},
			{typ: ToolOutput, data: `{"tool":"d","text":"z","replace":true}`, want: `[{"kind":"tool","id":"d","seq":7,"started":"1970-01-01T00:00:01Z","open":true,"text":"z","tool":{}}]`},
			{typ: ToolEnded, data: `{"tool":"d","status":"failed","error":"e"}`, want: `[{"kind":"tool","id":"d","seq":7,"started":"1970-01-01T00:00:01Z","text":"z","tool":{"end":{"tool":"d","status":"failed","error":"e"}}}]`},
		},
		"folds": {
			{typ: JoinedDeltas, data: `{"parts":[{"part":"p","kind":"text","text":"one","task":"k","parent":"up"},{"part":"p","kind":"reasoning","text":"hm"},{"part":"c","kind":"input","text":"in"},{"part":"c","kind":"output","text":"out"},{"part":"p","kind":"of tomorrow","text":"?"}]}`, want: `[` +
				`{"kind":"text","id":"p","task":"k","parent":"up","seq":1,"started":"1970-01-01T00:00:01Z","open":true,"text":"one"},` +
				`{"kind":"reasoning","id":"p","seq":1,"started":"1970-01-01T00:00:01Z","open":true,"text":"hm"},` +
				`{"kind":"tool","id":"c","seq":1,"started":"1970-01-01T00:00:01Z","open":true,"text":"out","tool":{"input_text":"in"}},` +
				`{"kind":"tool","id":"c","seq":1,"started":"1970-01-01T00:00:01Z","open":true,"text":"out","tool":{"input_text":"in"}}]`},
		},
		"approvals": {
			{typ: ApprovalRequested, task: "k", data: `{"request":"r","kind":"tool","title":"x","options":[],"asked":"1970-01-01T00:00:02Z"}`, want: `[{"kind":"approval","id":"r","task":"k","seq":2,"started":"1970-01-01T00:00:02Z","open":true,"approval":{"request":"r","kind":"tool","title":"x","options":[],"asked":"1970-01-01T00:00:02Z","turn":"t","task":"k"}}]`},
			{typ: ApprovalExplained, data: `{"request":"r","text":"so"}`, want: `[{"kind":"approval","id":"r","task":"k","seq":2,"started":"1970-01-01T00:00:02Z","open":true,"approval":{"request":"r","kind":"tool","title":"x","options":[],"asked":"1970-01-01T00:00:02Z","turn":"t","task":"k","explained":["so"]}}]`},
			{typ: ApprovalResolved, by: &Actor{Name: "ann"}, data: `{"request":"r","outcome":"allowed"}`, want: `[{"kind":"approval","id":"r","task":"k","seq":2,"started":"1970-01-01T00:00:02Z","approval":{"request":"r","kind":"tool","title":"x","options":[],"asked":"1970-01-01T00:00:02Z","turn":"t","task":"k","explained":["so"]},"resolved":{"request":"r","outcome":"allowed"},"by":{"name":"ann"}}]`},
			{typ: ApprovalExplained, data: `{"request":"unasked","text":"so"}`, want: `[{"kind":"approval","id":"unasked","seq":5,"started":"1970-01-01T00:00:05Z","open":true}]`},
		},
		"everything else": {
			{typ: TurnStarted, data: `{"message_id":"m"}`, want: `null`},
			{typ: "of.tomorrow", by: &Actor{Name: "ann"}, task: "k", parent: "up", data: `{"x":1}`, want: `[{"kind":"event","task":"k","parent":"up","seq":3,"started":"1970-01-01T00:00:03Z","by":{"name":"ann"},"type":"of.tomorrow","data":{"x":1}}]`},
			{typ: Notice, data: `{"text":"n"}`, want: `[{"kind":"event","seq":4,"started":"1970-01-01T00:00:04Z","type":"notice","data":{"text":"n"}}]`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tr := &Transcript{}
			apply(t, tr, Event{Seq: 1, Type: MessageUser, Data: json.RawMessage(`{"message_id":"m","text":"x"}`)})
			items := map[*Item]bool{}
			for i, e := range steps {
				changed := apply(t, tr, Event{
					Seq: uint64(i + 2), Type: e.typ, By: e.by, Task: e.task, Parent: e.parent,
					Data: json.RawMessage(e.data),
				})
				if got := string(MustEncode(changed)); got != e.want {
					t.Errorf("%d %s %s changed\n%s, want\n%s", i+2, e.typ, e.data, got, e.want)
				}
				for _, it := range changed {
					items[it] = true
				}
			}
			for _, it := range tr.Current().Items {
				delete(items, it)
			}
			if len(items) > 0 {
				t.Errorf("%d items changed that are not in the turn", len(items))
			}
		})
	}
}

func TestTurnsFollowEachOther(t *testing.T) {
	tr := &Transcript{}
	if tr.Current() != nil || apply(t, tr, Event{Seq: 1, Type: Notice}) != nil {
		t.Error("something happened in no turn")
	}
	apply(t, tr, Event{
		Seq: 2, Turn: "t1", Type: MessageUser, By: &Actor{Name: "ann"},
		Data: json.RawMessage(`{"message_id":"m1","text":"x"}`),
	})
	apply(t, tr, Event{Seq: 3, Turn: "t1", Type: TextDelta, Data: json.RawMessage(`{"part":"p","text":"a"}`)})
	apply(t, tr, Event{
		Seq: 4, Turn: "t1", Type: TurnEnded,
		Data: json.RawMessage(`{"reason":"completed","duration_ms":7}`),
	})
	apply(t, tr, Event{
		Seq: 5, Turn: "t2", Type: MessageUser, By: &Actor{Name: "ann"},
		Data: json.RawMessage(`{"message_id":"m2","text":"y","by":{"name":"bob"}}`),
	})
	apply(t, tr, Event{Seq: 6, Turn: "t2", Type: TextDelta, Data: json.RawMessage(`{"part":"p","text":"b"}`)})
	for _, of := range []string{"t1", "t3"} {
		if changed := apply(t, tr, Event{Seq: 7, Turn: of, Type: Notice}); changed != nil {
			t.Errorf("an event of turn %s changed turn t2", of)
		}
	}
	if changed, err := tr.Apply(&Event{Turn: "t2", Type: Notice}); changed != nil || err != nil || tr.Seq != 7 {
		t.Errorf("an ephemeral event changed %v, %v", changed, err)
	}
	want := `[` +
		`{"turn":"t1","first":2,"last":4,"message":{"message_id":"m1","text":"x","by":{"name":"ann"}},"started":"1970-01-01T00:00:02Z","items":[{"kind":"text","id":"p","seq":2,"started":"1970-01-01T00:00:02Z","text":"a"}],"end":{"reason":"completed","duration_ms":7},"ended":"1970-01-01T00:00:04Z"},` +
		`{"turn":"t2","first":5,"message":{"message_id":"m2","text":"y","by":{"name":"bob"}},"started":"1970-01-01T00:00:05Z","items":[{"kind":"text","id":"p","seq":5,"started":"1970-01-01T00:00:05Z","open":true,"text":"b"}]}]`
	if got := string(MustEncode(tr.Turns)); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	var back Transcript
	if err := json.Unmarshal(MustEncode(tr), &back); err != nil || string(MustEncode(back)) != string(MustEncode(tr)) {
		t.Errorf("it reads back as %s, %v", MustEncode(back), err)
	}
}

func TestWhatDoesNotContinueARunBeginsAnother(t *testing.T) {
	first := Event{Session: "s", Turn: "t", Task: "k", Parent: "up", Seq: 5, Time: time.Unix(5, 0)}
	delta := Delta{"p", KindText, "x"}
	for name, change := range map[string]func(*Event, *Delta){
		"a gap":            func(e *Event, _ *Delta) { e.Seq++ },
		"a repeat":         func(e *Event, _ *Delta) { e.Seq-- },
		"another turn":     func(e *Event, _ *Delta) { e.Turn = "u" },
		"another session":  func(e *Event, _ *Delta) { e.Session = "z" },
		"another task":     func(e *Event, _ *Delta) { e.Task = "l" },
		"another parent":   func(e *Event, _ *Delta) { e.Parent = "down" },
		"more than it can": func(_ *Event, d *Delta) { d.Text = string(make([]byte, MaxJoined)) },
	} {
		var r DeltaRun
		e, d := first, delta
		if !r.Add(&e, d) {
			t.Fatal("an empty run does not begin")
		}
		e.Seq++
		change(&e, &d)
		was := MustEncode(r.Event())
		if r.Add(&e, d) || !reflect.DeepEqual(MustEncode(r.Event()), was) {
			t.Errorf("%s: joined to %s", name, MustEncode(r.Event()))
		}
	}
	var r DeltaRun
	for i, d := range []Delta{
		{"p", KindText, "1"},
		{"p", KindText, "2"},
		{"p", KindReasoning, "3"},
		{"q", KindText, string(make([]byte, MaxJoined-3))},
	} {
		e := first
		e.Seq, e.Time = e.Seq+uint64(i), e.Time.Add(time.Duration(i)*time.Second)
		if !r.Add(&e, d) {
			t.Errorf("delta %d does not join", i)
		}
	}
	whole := r.Event()
	if !whole.Time.Equal(first.Time) || whole.Time.IsZero() {
		t.Errorf("a run that began at %v is of %v", first.Time, whole.Time)
	}
	if r.Len() != 4 || whole.First() != 5 || whole.Seq != 8 {
		t.Errorf("%d events, %d..%d", r.Len(), whole.First(), whole.Seq)
	}
}

func TestOnlyTextThatIsAppendedFolds(t *testing.T) {
	for _, c := range []struct {
		typ  Type
		data string
		want string
	}{
		{TextDelta, `{"part":"p","text":"x"}`, "p text x"},
		{ReasoningDelta, `{"part":"p","text":"x"}`, "p reasoning x"},
		{ToolInput, `{"tool":"c","text":"x"}`, "c input x"},
		{ToolInput, `{"tool":"c","text":"x","input":{}}`, ""},
		{ToolOutput, `{"tool":"c","text":"x"}`, "c output x"},
		{ToolOutput, `{"tool":"c","text":"x","replace":true}`, ""},
		{ToolOutput, `{"tool":"c","text":"x","content":[]}`, ""},
		{TextDelta, `{"part":1}`, ""},
		{ToolInput, `{"tool":1}`, ""},
		{ToolOutput, `{"tool":1}`, ""},
		{Notice, `{"text":"x"}`, ""},
	} {
		got := ""
		if d, ok := (&Event{Type: c.typ, Data: json.RawMessage(c.data)}).Delta(); ok {
			got = fmt.Sprintf("%s %s %s", d.Part, d.Kind, d.Text)
		}
		if got != c.want {
			t.Errorf("%s %s is %q, want %q", c.typ, c.data, got, c.want)
		}
	}
	// Joined events, and deltas too long for a run, are unchanged.
	long := Event{
		Session: "s", Seq: 4, Type: TextDelta,
		Data: MustEncode(PartDeltaData{"p", string(make([]byte, MaxJoined+1))}),
	}
	folded := Event{
		Session: "s", Seq: 3, FirstSeq: 2, Type: TextDelta,
		Data: json.RawMessage(`{"part":"p","text":"x"}`),
	}
	one := Event{Session: "s", Seq: 1, Type: TextDelta, Data: json.RawMessage(`{"part":"p","text":"x"}`)}
	if got := JoinDeltas([]Event{one, folded, long}); !reflect.DeepEqual(got, []Event{one, folded, long}) {
		t.Errorf("%d events", len(got))
	}
}

package protocol

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// history draws the events of a legal session: deltas of several open parts and tools, of several
// tasks, mixed with everything else.
func history(t *rapid.T) []Event {
	var events []Event
	turn := ""
	add := func(typ Type, task string, data any) {
		events = append(events, Event{
			Session: "s", Seq: uint64(len(events) + 1), Turn: turn, Task: task, Type: typ, Data: MustEncode(data),
			Time: time.Unix(1700000000+int64(len(events)), 0).UTC(),
		})
	}
	add(SessionCreated, "", SessionCreatedData{Agent: "a"})
	for n := range rapid.IntRange(1, 3).Draw(t, "turns") {
		turn = fmt.Sprintf("t%d", n)
		add(MessageUser, "", MessageUserData{Message{MessageID: fmt.Sprintf("m%d", n), Text: "x"}})
		add(TurnStarted, "", TurnStartedData{MessageID: fmt.Sprintf("m%d", n)})
		for i := range rapid.IntRange(0, 60).Draw(t, "events") {
			id := fmt.Sprint(rapid.IntRange(0, 2).Draw(t, "id"))
			task := rapid.SampledFrom([]string{"", "", "k1", "k2"}).Draw(t, "task")
			text := rapid.StringN(0, 6, -1).Draw(t, "text")
			switch rapid.IntRange(0, 12).Draw(t, "kind") {
			case 0:
				add(TextStart, task, PartStartData{Part: id})
			case 1, 2, 3:
				add(TextDelta, task, PartDeltaData{id, text})
			case 4, 5:
				add(ReasoningDelta, task, PartDeltaData{id, text})
			case 6:
				add(ToolStarted, task, ToolStartedData{Tool: id, Name: "n"})
			case 7, 8:
				add(ToolOutput, task, ToolOutputData{Tool: id, Text: text, Replace: i%7 == 0})
			case 9:
				add(ToolInput, task, ToolInputData{Tool: id, Text: text})
			case 10:
				add(TextEnd, task, PartEndData{Part: id})
			case 11:
				add(ToolEnded, task, ToolEndedData{Tool: id, Status: ToolCompleted})
			case 12:
				add(QueueAdded, "", QueueAddedData{Message: Message{
					MessageID: fmt.Sprintf("q%d-%d", n, i),
					Text:      text,
				}})
			}
		}
		add(TurnEnded, "", TurnEndedData{Reason: ReasonCompleted})
		turn = ""
	}
	return events
}

func foldAll(t interface{ Fatal(...any) }, events []Event) (*State, *Transcript) {
	s, tr := &State{}, &Transcript{}
	for i := range events {
		line := events[i].AppendJSON(nil)
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if err := s.Apply(&e); err != nil {
			t.Fatal(err)
		}
		if _, err := tr.Apply(&e); err != nil {
			t.Fatal(err)
		}
	}
	return s, tr
}

func TestFoldedAndRawEventsGiveTheSameStateAndTranscript(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := history(t)
		folded := JoinDeltas(events)
		next := uint64(1)
		for _, e := range folded {
			if e.First() != next {
				t.Fatalf("fold leaves a gap before %d", next)
			}
			next = e.Seq + 1
		}
		s1, t1 := foldAll(t, events)
		s2, t2 := foldAll(t, folded)
		for _, pair := range [][2]any{{s1, s2}, {t1, t2}} {
			if a, b := MustEncode(pair[0]), MustEncode(pair[1]); string(a) != string(b) {
				t.Fatalf("raw    %s\nfolded %s", a, b)
			}
		}
	})
}

func TestARunIsCutAtItsBound(t *testing.T) {
	var events []Event
	for i := range 300 {
		events = append(events, Event{
			Session: "s", Turn: "t", Seq: uint64(i + 1), Type: TextDelta,
			Data: MustEncode(PartDeltaData{"p", string(make([]byte, 1024))}),
		})
	}
	folded := JoinDeltas(events)
	if len(folded) != 3 {
		t.Fatalf("%d folds", len(folded))
	}
	for _, e := range folded {
		d, _ := e.Delta()
		if len(d.Text) > MaxJoined {
			t.Errorf("fold %d..%d holds %d bytes", e.First(), e.Seq, len(d.Text))
		}
	}
}

func TestApplyRefusesAGap(t *testing.T) {
	s := &State{Seq: 4}
	for _, seq := range []uint64{4, 6} {
		if err := s.Apply(&Event{Seq: seq, Type: Notice}); err == nil || s.Seq != 4 {
			t.Errorf("event %d after 4 was taken", seq)
		}
	}
	if err := s.Apply(&Event{Type: Heartbeat}); err != nil || s.Seq != 4 {
		t.Errorf("an ephemeral event changed the state: %v", err)
	}
	if err := s.Apply(&Event{Seq: 5, Type: "of.tomorrow", Data: json.RawMessage(`{"x":1}`)}); err != nil || s.Seq != 5 {
		t.Errorf("an unknown type must pass: %v", err)
	}
}

func TestACompactionCorrectsWhatIsKnownOfTheContext(t *testing.T) {
	s := &State{}
	for i, e := range []struct {
		typ  Type
		data any
		want *ContextInfo
	}{
		{ContextCompacted, ContextCompactedData{Before: 9, After: 3}, nil},
		{
			ContextUpdated,
			ContextInfo{Tokens: 150, MaxTokens: 200, Percent: 75, TranscriptLength: 4},
			&ContextInfo{Tokens: 150, MaxTokens: 200, Percent: 75, TranscriptLength: 4},
		},
		{
			ContextCompacted,
			ContextCompactedData{Before: 150, After: 50},
			&ContextInfo{Tokens: 50, MaxTokens: 200, Percent: 25, TranscriptLength: 4},
		},
		{ContextUpdated, ContextInfo{Tokens: 60}, &ContextInfo{Tokens: 60}},
		{ContextCompacted, ContextCompactedData{Before: 60, After: 50}, &ContextInfo{Tokens: 50}},
	} {
		before := s.Clone()
		if err := s.Apply(&Event{Seq: uint64(i + 1), Type: e.typ, Data: MustEncode(e.data)}); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(s.Context, e.want) {
			t.Errorf("after %d events: %+v, want %+v", i+1, s.Context, e.want)
		}
		if i > 0 && e.typ == ContextCompacted && before.Context.Tokens == s.Context.Tokens {
			t.Error("what was known before changed, too")
		}
	}
}

func TestAnEditHoldBlocksOnlyItsMessageWhenThatIsNext(t *testing.T) {
	s := &State{
		QueueState: QueueState{
			Queue: []Message{{MessageID: "a"}, {MessageID: "b"}},
			Holds: []Hold{{ID: "h", Reason: HoldEdit, MessageID: "b"}},
		},
	}
	if m := s.NextQueued(); m == nil || m.MessageID != "a" {
		t.Errorf("next is %v, want a", m)
	}
	s.Holds[0].MessageID = "a"
	if s.NextQueued() != nil {
		t.Error("a message that is edited may start")
	}
	s.Holds = []Hold{{ID: "h", Reason: HoldUser}}
	s.Queue = s.Queue[1:]
	if s.NextQueued() != nil {
		t.Error("a held queue runs")
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	e := Event{
		Session: "s_0123456789abcdef", Seq: 123456, Turn: "t_0123456789abcdef", Time: time.Now(),
		Type: TextDelta, Data: MustEncode(PartDeltaData{"p1", "some words of text "}),
	}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = e.AppendJSON(buf[:0])
	}
}

func BenchmarkApplyDelta(b *testing.B) {
	s := &State{}
	e := Event{Session: "s", Turn: "t", Type: TextDelta, Data: MustEncode(PartDeltaData{"p1", "some words of text "})}
	b.ReportAllocs()
	for b.Loop() {
		e.Seq = s.Seq + 1
		if err := s.Apply(&e); err != nil {
			b.Fatal(err)
		}
	}
}

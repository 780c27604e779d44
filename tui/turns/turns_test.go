package turns

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// eventsOf returns the events of n turns, turn i with i tool calls.
func eventsOf(n int) []*protocol.Event {
	j := tuitest.NewJournal()
	for i := range n {
		j.UserMessage(tuitest.Ada, fmt.Sprint("m", i), fmt.Sprintf("Question %d\nabout Café", i))
		for k := range i {
			id := fmt.Sprint("c", k)
			j.Tool(id, protocol.ToolStartedData{Name: "shell"}, "")
			j.Tool(id, protocol.ToolStartedData{Name: "shell", Title: "ls"}, "out")
			j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: id, Status: protocol.ToolCompleted})
		}
		j.EndTurn(protocol.ReasonCompleted)
	}
	var out []*protocol.Event
	for _, u := range j.Take() {
		if u.Event != nil {
			out = append(out, u.Event)
		}
	}
	return out
}

// apply applies an event.
func apply(t rapid.TB, turns *Turns, e *protocol.Event) {
	t.Helper()
	if _, err := turns.Apply(e); err != nil {
		t.Fatal(err)
	}
}

// brief returns turns as text.
func brief(o *Turns) string {
	var out strings.Builder
	for _, t := range o.Matching("") {
		fmt.Fprintf(&out, "%s %d %q %s %d %v\n", t.ID, t.First, t.Prompt, t.Started, t.Tools(), t.End != nil)
	}
	return out.String()
}

func TestTurnsInBrief(t *testing.T) {
	var o Turns
	for _, e := range eventsOf(3) {
		apply(t, &o, e)
	}
	turns := o.Matching("")
	if len(turns) != 3 || turns[2].Tools() != 2 || turns[2].Prompt != "Question 2 about Café" || turns[2].End == nil {
		t.Errorf("got\n%s", brief(&o))
	}
	if got := o.Matching("CAFÉ question 1"); len(got) != 1 || got[0] != turns[1] {
		t.Errorf("the filter matches %d turns", len(got))
	}
	if len(o.Matching("question nothing")) > 0 {
		t.Error("a turn without all words matches")
	}
}

func TestPagesGiveTheSameTurnsAsEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := eventsOf(rapid.IntRange(1, 6).Draw(t, "turns"))
		var want Turns
		for _, e := range all {
			apply(t, &want, e)
		}
		var got Turns
		state := &protocol.State{}
		from := rapid.IntRange(0, len(all)).Draw(t, "snapshot")
		for _, e := range all[:from] {
			if err := state.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
		got.Reset(uint64(from), state)
		for _, e := range all[from:] {
			apply(t, &got, e)
		}
		for at := got.OlderThan(); at > 0; at = got.OlderThan() {
			end := int(at) - 1
			first := rapid.IntRange(0, end-1).Draw(t, "page")
			page := &protocol.HistoryResult{First: uint64(first) + 1, More: first > 0}
			for _, e := range all[first:end] {
				page.Events = append(page.Events, e.AppendJSON(nil))
			}
			if err := got.PrependPage(page); err != nil {
				t.Fatal(err)
			}
		}
		if brief(&want) != brief(&got) {
			t.Errorf("pages give\n%s\nwant\n%s", brief(&got), brief(&want))
		}
	})
}

func TestPromptIsShortAndValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		got := prompt(strings.Repeat(rapid.String().Draw(t, "unit"), 1000))
		if len(got) > maxPrompt || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\t\r") {
			t.Errorf("%q", got)
		}
	})
}

func TestPrependRefusesInvalidEvents(t *testing.T) {
	var o Turns
	o.Reset(9, &protocol.State{})
	if err := o.PrependPage(&protocol.HistoryResult{Events: []json.RawMessage{json.RawMessage("{")}}); err == nil {
		t.Error("an invalid event was accepted")
	}
}

package transcriptview

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/filechange"
)

// drawEdits draws finished turns of which most change files, and returns their events.
func drawEdits(t *rapid.T) (events []protocol.Event) {
	j := tuitest.Journal{At: tuitest.Start}
	for turn := range rapid.IntRange(1, 8).Draw(t, "turns") {
		j.UserMessage(tuitest.Ada, fmt.Sprint("m", turn), "Change it.")
		for call := range rapid.IntRange(0, 3).Draw(t, "calls") {
			id, path := fmt.Sprint("t", turn, "/", call), rapid.SampledFrom([]string{"a.go", "b.go", "c/d.go"}).Draw(t, "path")
			old, text := "x\n", fmt.Sprint("y\n", turn, call, "\n")
			j.Add(protocol.ToolStarted, protocol.ToolStartedData{Tool: id, Name: "edit", Kind: protocol.ToolEdit})
			j.Add(protocol.ToolOutput, protocol.ToolOutputData{
				Tool: id, Content: []protocol.Content{{Type: "diff", Path: path, Old: &old, New: text}},
			})
			j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: id, Status: protocol.ToolCompleted})
		}
		j.EndTurn(protocol.ReasonCompleted)
	}
	for _, u := range j.Take() {
		events = append(events, *u.Event)
	}
	return events
}

// The changes of turns in the list and of those before it add up to the changes of all, wherever pages
// begin, and when the list gets more of them.
func TestTheChangesOfAllTurnsAreKnown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := drawEdits(t)
		last := uint64(len(events))
		whole, v := pagedView(last), pagedView(last)
		if err := whole.PrependPage(page(events, 0, len(events))); err != nil {
			t.Fatal(err)
		}
		want := Steps(whole.List, whole.List.First(), whole.List.Last())
		end := len(events) // of what the list lacks
		list := func(what string) {
			for range rapid.IntRange(0, 2).Draw(t, what) {
				if end == 0 {
					return
				}
				begin := rapid.IntRange(0, end-1).Draw(t, "begin")
				if err := v.PrependPage(page(events, begin, end)); err != nil {
					t.Fatal(err)
				}
				end = begin
			}
		}
		list("pages before")
		for !v.ChangesKnown() {
			o := v.OlderChanges()
			d, ok := o.Request()
			if _, again := o.Request(); !ok || again {
				t.Fatalf("requested %v, and again %v", ok, again)
			}
			o.Add(page(events, rapid.IntRange(0, int(d.Before)-2).Draw(t, "begin"), int(d.Before)-1), nil)
		}
		list("pages after")
		if got := v.StepsTo(v.List.Last()); !v.ChangesKnown() || !reflect.DeepEqual(labels(got), labels(want)) {
			t.Fatalf("got %v, want %v", labels(got), labels(want))
		}
		if got, want := v.ChangedFiles(), whole.ChangedFiles(); !reflect.DeepEqual(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

// labels returns the added lines of steps.
func labels(steps []filechange.Step) (out []string) {
	for _, s := range steps {
		for _, f := range s.Files {
			out = append(out, fmt.Sprint(f.Path(), f.Hunks))
		}
	}
	return out
}

func TestChangesAreReadAgainAfterTurnsWereDropped(t *testing.T) {
	s := open(t, tuitest.LongSession(1), 60, 20)
	if !s.view.ChangesKnown() {
		t.Error("a session that is loaded has unknown changes")
	}
	for s.view.paging.olderThan == 0 {
		j := tuitest.LongSession(100)
		j.Pending = j.Pending[3:]
		for _, u := range j.Pending {
			if e := u.Event; e != nil && e.Durable() {
				e.Seq += s.view.Turns.Seq() - 2
				if err := s.view.Apply(e); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	before := s.view.OlderChanges()
	if s.view.ChangesKnown() || s.view.OlderChanges() != before {
		t.Error("changes of dropped turns are known")
	}
	before.Add(nil, errors.New("refused"))
	if _, ok := before.Request(); ok || s.view.ChangesKnown() || s.view.ChangesLoading() || s.view.OlderChanges() == before {
		t.Error("a failed request is not repeated by the next reader alone")
	}
	s.view.StopPaging()
	if d, ok := s.view.OlderChanges().Request(); !ok || d.Before == 0 || s.view.ChangesKnown() {
		t.Errorf("after paging stopped: got %+v, %v", d, ok)
	}
}

package historygen

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"agentctl/protocol"
)

var update = flag.Bool("update", false, "write protocol/testdata/fold")

// foldDir has histories for the authors of clients in other languages: events, and the state that
// they make. The events are recorded once: a new type of event gets a file, named after it.
var foldDir = filepath.Join("..", "..", "..", "protocol", "testdata", "fold")

// newEvents is the length of the history of a new type.
const newEvents = 40

// aHistory draws the events of a session.
var aHistory = rapid.Custom(func(t *rapid.T) []protocol.Event {
	state := &protocol.State{}
	g := &Generator{T: t, State: state, Now: start}
	first := protocol.Event{Type: protocol.SessionCreated, Data: protocol.MustEncode(
		protocol.SessionCreatedData{Agent: "claude", CWD: "/home/ada/app"},
	)}
	var events []protocol.Event
	add := func(e protocol.Event) {
		e.Session, e.Seq, e.Time = "s_1", state.Seq+1, g.Now
		if err := state.Apply(&e); err != nil {
			t.Fatalf("%s: %v", e.Type, err)
		}
		events = append(events, e)
	}
	add(first)
	for len(events) < newEvents {
		en := g.Next()
		if en.Type == protocol.SessionClosed && len(events) < newEvents-2 {
			continue
		}
		add(protocol.Event{
			Turn: en.Turn, Task: en.Task, Parent: en.Parent, By: en.By, Type: en.Type,
			Data: protocol.MustEncode(en.Data),
		})
	}
	return events
})

// The files are what the reducer makes of their events, and contain every type of event.
func TestFoldFilesAreWhatTheReducerMakes(t *testing.T) {
	if *update {
		recordNewTypes(t)
	}
	names := recorded(t)
	for _, name := range names {
		got := indent(t, reduce(t, readEvents(t, name)))
		file := filepath.Join(foldDir, name+".state.json")
		if *update {
			must(t, os.WriteFile(file, got, 0o644))
			continue
		}
		want, err := os.ReadFile(file)
		must(t, err)
		if !bytes.Equal(got, want) {
			t.Errorf("%s: the state is now\n%s\nRun go generate ./internal/dev/historygen if that is right.", name, got)
		}
	}
	for typ := range missing(t) {
		t.Errorf("no history has %s: run go generate ./internal/dev/historygen", typ)
	}
}

// recorded returns the names of the histories.
func recorded(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(foldDir, "*.events.jsonl"))
	must(t, err)
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".events.jsonl"))
	}
	return names
}

// missing returns the types of events that no history has.
func missing(t *testing.T) map[protocol.Type]bool {
	t.Helper()
	types := map[protocol.Type]bool{}
	for i := range protocol.EventTypes {
		if row := &protocol.EventTypes[i]; !row.Ephemeral {
			types[row.Type] = true
		}
	}
	for _, name := range recorded(t) {
		for _, e := range readEvents(t, name) {
			delete(types, e.Type)
		}
	}
	return types
}

// recordNewTypes writes a history for each type of event that no recorded one has.
func recordNewTypes(t *testing.T) {
	for _, row := range protocol.EventTypes {
		if !missing(t)[row.Type] {
			continue
		}
		var lines []byte
		for seed := 0; lines == nil; seed++ {
			if seed == 1000 {
				t.Fatalf("no history has %s", row.Type)
			}
			events := aHistory.Example(seed)
			if slices.ContainsFunc(events, func(e protocol.Event) bool { return e.Type == row.Type }) {
				for i := range events {
					lines = append(events[i].AppendJSON(lines), '\n')
				}
			}
		}
		must(t, os.MkdirAll(foldDir, 0o755))
		must(t, os.WriteFile(filepath.Join(foldDir, string(row.Type)+".events.jsonl"), lines, 0o644))
	}
}

func readEvents(t *testing.T, name string) (events []protocol.Event) {
	t.Helper()
	lines, err := os.ReadFile(filepath.Join(foldDir, name+".events.jsonl"))
	must(t, err)
	for line := range bytes.Lines(lines) {
		var e protocol.Event
		must(t, json.Unmarshal(line, &e))
		events = append(events, e)
	}
	return events
}

func reduce(t *testing.T, events []protocol.Event) *protocol.State {
	t.Helper()
	state := &protocol.State{}
	for i := range events {
		must(t, state.Apply(&events[i]))
	}
	return state
}

func indent(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.MarshalIndent(v, "", "  ")
	must(t, err)
	return append(b, '\n')
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

package historygen

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"agentctl/protocol"
)

var update = flag.Bool("update", false, "write protocol/testdata/fold")

// foldHistories is the number of histories in protocol/testdata/fold, foldEvents their length.
const foldHistories, foldEvents = 10, 120

// foldDir has histories for the authors of clients in other languages: events, and the state that
// they make.
var foldDir = filepath.Join("..", "..", "..", "protocol", "testdata", "fold")

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
	for len(events) < foldEvents {
		en := g.Next()
		if en.Type == protocol.SessionClosed && len(events) < foldEvents-2 {
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
		writeFold(t)
	}
	seen := map[protocol.Type]bool{}
	for i := range foldHistories {
		name := filepath.Join(foldDir, fmt.Sprintf("%02d", i+1))
		lines, err := os.ReadFile(name + ".events.jsonl")
		must(t, err)
		want, err := os.ReadFile(name + ".state.json")
		must(t, err)
		state := &protocol.State{}
		for line := range bytes.Lines(lines) {
			var e protocol.Event
			must(t, json.Unmarshal(line, &e))
			must(t, state.Apply(&e))
			seen[e.Type] = true
		}
		if got := indent(t, state); !bytes.Equal(got, want) {
			t.Errorf("%s: the state is now\n%s\nRun go generate ./internal/dev/historygen if that is right.", name, got)
		}
	}
	for _, typ := range protocol.EventTypes {
		if !typ.Ephemeral && !seen[typ.Type] {
			t.Errorf("no history has %s: run go generate ./internal/dev/historygen", typ.Type)
		}
	}
}

// writeFold writes new files: of several sets of histories the first with every type of event.
func writeFold(t *testing.T) {
	must(t, os.MkdirAll(foldDir, 0o755))
	for seed := range 1000 {
		histories := make([][]protocol.Event, foldHistories)
		missing := map[protocol.Type]bool{}
		for _, typ := range protocol.EventTypes {
			if !typ.Ephemeral {
				missing[typ.Type] = true
			}
		}
		for i := range histories {
			histories[i] = aHistory.Example(seed*foldHistories + i)
			for j := range histories[i] {
				delete(missing, histories[i][j].Type)
			}
		}
		if len(missing) > 0 {
			continue
		}
		for i, events := range histories {
			var lines []byte
			state := &protocol.State{}
			for j := range events {
				lines = append(events[j].AppendJSON(lines), '\n')
				must(t, state.Apply(&events[j]))
			}
			name := filepath.Join(foldDir, fmt.Sprintf("%02d", i+1))
			must(t, os.WriteFile(name+".events.jsonl", lines, 0o644))
			must(t, os.WriteFile(name+".state.json", indent(t, state), 0o644))
		}
		return
	}
	t.Fatal("no set of histories has every type of event")
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

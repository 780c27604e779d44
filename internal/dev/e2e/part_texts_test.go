package e2e

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"agentctl/protocol"
)

// partTexts returns the text of each part in the given event lines.
func partTexts(t tb, lines []string) string {
	t.Helper()
	parts := map[string]*strings.Builder{}
	add := func(e *protocol.Event, part string, kind protocol.Kind, text string) {
		name := e.Turn + " " + part + " " + string(kind)
		if parts[name] == nil {
			parts[name] = new(strings.Builder)
		}
		parts[name].WriteString(text)
	}
	for _, line := range lines {
		e := decode(t, line)
		if d, ok := e.Delta(); ok {
			add(e, d.Part, d.Kind, d.Text)
		}
		if e.Type == protocol.JoinedDeltas {
			var f protocol.JoinedData
			if err := e.Decode(&f); err != nil {
				t.Fatal(err)
			}
			for _, p := range f.Parts {
				add(e, p.Part, p.Kind, p.Text)
			}
		}
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		all = append(all, name+": "+parts[name].String())
	}
	return strings.Join(all, "\n")
}

func decode(t tb, line string) *protocol.Event {
	t.Helper()
	e := new(protocol.Event)
	if err := json.Unmarshal([]byte(line), e); err != nil {
		t.Fatal(err)
	}
	return e
}

package session

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

func TestOutputLineIsTheLastLineOfText(t *testing.T) {
	text := func(parts ...string) (out []protocol.Delta) {
		for _, p := range parts {
			out = append(out, protocol.Delta{Part: "p", Kind: protocol.KindText, Text: p})
		}
		return out
	}
	long := strings.Repeat("漢", 300)
	for name, c := range map[string]struct {
		deltas []protocol.Delta
		want   string
	}{
		"nothing":           {nil, ""},
		"pieces of a line":  {text("Read", "ing ", "main.go"), "Reading main.go"},
		"the last line":     {text("a\nb", "c\n\n"), "bc"},
		"blank lines":       {text("done\n", "  \n\t\n"), "done"},
		"the next line":     {text("done\n", " ", "next"), "next"},
		"a long line":       {text(long, "x"), strings.Repeat("漢", maxOutputLine/3)},
		"a line after it":   {text(long, "x\ny"), "y"},
		"no other deltas":   {append(text("a"), protocol.Delta{Kind: protocol.KindReasoning, Text: "\nb"}), "a"},
		"of the next part":  {append(text("a"), protocol.Delta{Part: "q", Kind: protocol.KindText, Text: "b"}), "b"},
		"Windows line ends": {text("a\r\n"), "a"},
	} {
		var o outputLine
		for _, d := range c.deltas {
			o.write("t", d, time.Time{})
		}
		if got := o.text(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Agents name their parts anew in each turn.
func TestOutputOfTheNextTurnIsALineOfItsOwn(t *testing.T) {
	var o outputLine
	for turn, text := range []string{"first", "second"} {
		o.write(fmt.Sprint(turn), protocol.Delta{Part: "p1", Kind: protocol.KindText, Text: text}, time.Time{})
	}
	if got := o.text(); got != "second" {
		t.Errorf("the line is %q", got)
	}
}

// A session that writes publishes its summary for the last line at most once a second.
func TestOutputIsInTheSummaryAtMostOnceASecond(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.send(id, "go")
		run := r.agents.run()
		run.emit(agent.Event{Type: protocol.TextStart, Data: protocol.PartStartData{Part: "p"}})
		r.waitIdle()
		w := &countingWatcher{}
		r.hub.Watch(w)
		for range 500 {
			run.emit(agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: "word "}})
			time.Sleep(10 * time.Millisecond)
		}
		r.waitIdle()
		if n := w.count.Load(); n < 4 || n > 6 {
			t.Errorf("%d summaries in 5 seconds of text, want about one a second", n)
		}
		if got := r.hub.List(true)[0].Output; !strings.HasPrefix(got, "word word") {
			t.Errorf("output %q", got)
		}
	})
}

// countingWatcher counts summaries.
type countingWatcher struct{ count atomic.Int32 }

func (w *countingWatcher) Notify(string, []byte) { w.count.Add(1) }

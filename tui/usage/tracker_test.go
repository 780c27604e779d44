package usage

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	_ "agentctl/internal/dev/golden" // the flag -update
	"agentctl/protocol"
)

var start = time.Date(2026, 3, 4, 9, 41, 0, 0, time.UTC)

func event(turn string, t protocol.Type, data any) *protocol.Event {
	return &protocol.Event{Seq: 1, Turn: turn, Type: t, Data: protocol.MustEncode(data)}
}

func turnEvents(turn string, tokens int64) []*protocol.Event {
	return []*protocol.Event{
		event(turn, protocol.TurnStarted, protocol.TurnStartedData{}),
		event(turn, protocol.ContextUpdated, protocol.ContextInfo{Tokens: tokens, MaxTokens: 100}),
		event(turn, protocol.TurnEnded, protocol.TurnEndedData{Usage: &protocol.Usage{Output: tokens / 10}}),
	}
}

func contextTokens(u *Tracker) []int64 {
	var out []int64
	for _, t := range u.Turns() {
		out = append(out, t.Tokens)
	}
	return out
}

func TestContextPerTurn(t *testing.T) {
	u := &Tracker{}
	u.Reset(&protocol.State{})
	for _, e := range turnEvents("t3", 30) {
		u.Apply(e, start, false)
	}
	u.Apply(event("t4", protocol.TurnStarted, protocol.TurnStartedData{}), start, false)
	u.Prepend(slices.Concat(turnEvents("t1", 10), turnEvents("t2", 20), turnEvents("t3", 30)))
	if got, want := contextTokens(u), []int64{10, 20, 30, 30}; !slices.Equal(got, want) {
		t.Errorf("context tokens: got %v, want %v", got, want)
	}
	if u.Turns()[0].MaxTokens != 100 {
		t.Errorf("first turn: %+v, want 100 maximum tokens", u.Turns()[0])
	}
	u.Apply(event("t4", protocol.ContextCompacted, protocol.ContextCompactedData{Before: 30, After: 5}), start, true)
	if got := u.Turns()[3].Tokens; got != 5 || u.LastCompaction().Before != 30 {
		t.Errorf("after the compaction: %d tokens, %+v", got, u.LastCompaction())
	}
}

func TestCompactionBetweenTurns(t *testing.T) {
	u := &Tracker{}
	for _, e := range slices.Concat(turnEvents("t1", 80), []*protocol.Event{
		event("", protocol.ContextCompacted, protocol.ContextCompactedData{Before: 80, After: 5}),
		event("", protocol.ContextUpdated, protocol.ContextInfo{Tokens: 6, MaxTokens: 100}),
	}) {
		u.Apply(e, start, true)
	}
	u.Apply(event("t2", protocol.TurnStarted, protocol.TurnStartedData{}), start, true)
	if got, want := contextTokens(u), []int64{80, 6}; !slices.Equal(got, want) {
		t.Errorf("context tokens: got %v, want %v", got, want)
	}
}

func TestRunningTurnContext(t *testing.T) {
	u := &Tracker{}
	u.Reset(&protocol.State{Turn: &protocol.TurnState{Turn: "t2"}})
	u.Prepend(turnEvents("t1", 40))
	if got, want := contextTokens(u), []int64{40, 40}; !slices.Equal(got, want) {
		t.Errorf("context tokens: got %v, want %v", got, want)
	}
}

func TestTurnsAreLimited(t *testing.T) {
	u := &Tracker{}
	for i := range 3 * maxTurns {
		u.Apply(event(strings.Repeat("t", i+1), protocol.TurnStarted, protocol.TurnStartedData{}), start, false)
	}
	if n := len(u.Turns()); n != maxTurns {
		t.Errorf("%d turns kept, want %d", n, maxTurns)
	}
}

func TestTokenRateEstimate(t *testing.T) {
	u := &Tracker{}
	u.Apply(event("t", protocol.TurnStarted, protocol.TurnStartedData{}), start, true)
	delta := event("t", protocol.TextDelta, protocol.PartDeltaData{Text: strings.Repeat("x", 400)})
	now := start
	for range 30 {
		u.Apply(delta, now, true)
		now = now.Add(500 * time.Millisecond)
	}
	if per, estimated, ok := u.TokenRate(now); !ok || !estimated || per != 200 {
		t.Errorf("%v tokens per second (estimated %v, ok %v), want about 200", per, estimated, ok)
	}
	if per, _, ok := u.TokenRate(now.Add(4 * time.Second)); !ok || per > 150 {
		t.Errorf("after a pause: %v tokens per second, ok %v; want at most 150", per, ok)
	}
	if _, _, ok := u.TokenRate(now.Add(rateSeconds * time.Second)); ok {
		t.Error("TokenRate is ok without output in the window")
	}
}

func TestTokenRateIgnoresCatchUp(t *testing.T) {
	u := &Tracker{}
	u.Apply(event("t", protocol.TurnStarted, protocol.TurnStartedData{}), start, false)
	joined := event("t", protocol.TextDelta, protocol.PartDeltaData{Text: strings.Repeat("x", 4000)})
	joined.FirstSeq, joined.Seq = 1, 4000
	for i := range 4 {
		now := start.Add(time.Duration(i) * time.Second)
		u.Apply(joined, now, true)
		u.Apply(event("t", protocol.TextDelta, protocol.PartDeltaData{Text: "x"}), now, false)
	}
	if _, _, ok := u.TokenRate(start.Add(3 * time.Second)); ok {
		t.Error("TokenRate is ok after catch-up events only")
	}
}

// A server that joins live deltas changes no rate.
func TestTokenRateCountsLiveRuns(t *testing.T) {
	one := event("t", protocol.TextDelta, protocol.PartDeltaData{Text: strings.Repeat("x", 400)})
	several := event("t", protocol.JoinedDeltas, protocol.JoinedData{Parts: []protocol.JoinedPart{
		{Part: "p", Kind: protocol.KindText, Text: strings.Repeat("x", 300)},
		{Part: "r", Kind: protocol.KindReasoning, Text: strings.Repeat("x", 100)},
		{Part: "c", Kind: protocol.KindOutput, Text: strings.Repeat("x", 1000)},
	}})
	for _, e := range []*protocol.Event{one, several} {
		e.FirstSeq, e.Seq = 101, 150
		u := &Tracker{}
		u.Apply(event("t", protocol.TurnStarted, protocol.TurnStartedData{}), start, true)
		now := start
		for range 30 {
			u.Apply(e, now, true)
			now = now.Add(500 * time.Millisecond)
		}
		if per, estimated, ok := u.TokenRate(now); !ok || !estimated || per != 200 {
			t.Errorf("%s: %v tokens per second (estimated %v, ok %v), want about 200", e.Type, per, estimated, ok)
		}
	}
}

func TestTokenRateFromCounts(t *testing.T) {
	u := &Tracker{}
	u.Reset(&protocol.State{Usage: &protocol.Usage{Output: 1000}})
	u.Apply(event("t", protocol.TurnStarted, protocol.TurnStartedData{}), start, true)
	u.Apply(event("t", protocol.UsageUpdated, protocol.Usage{Output: 1100}), start.Add(2*time.Second), true)
	if per, estimated, ok := u.TokenRate(start.Add(3 * time.Second)); !ok || estimated || per != 50 {
		t.Errorf("%v tokens per second (estimated %v, ok %v), want 50", per, estimated, ok)
	}
	u.Apply(event("t", protocol.UsageUpdated, protocol.Usage{Input: 1}), start.Add(3*time.Second), true)
	for i, output := range []int64{1110, 1120, 1130} { // at 2.5, 3 and 3.5 s: a rate after more than a second
		at := start.Add(2*time.Second + time.Duration(i+1)*time.Second/2)
		u.Apply(event("t", protocol.UsageUpdated, protocol.Usage{Output: output}), at, true)
	}
	if per, _, _ := u.TokenRate(start.Add(3500 * time.Millisecond)); per != 20 {
		t.Errorf("counts in short order: %v tokens per second, want 20", per)
	}
	if _, _, ok := u.TokenRate(start.Add(time.Minute)); ok {
		t.Error("the exact rate does not expire")
	}
	u.Apply(event("t", protocol.UsageUpdated, protocol.Usage{Output: 1200}), start.Add(61*time.Second), true)
	u.Apply(event("t", protocol.TurnEnded, protocol.TurnEndedData{}), start.Add(62*time.Second), true)
	if _, _, ok := u.TokenRate(start.Add(62 * time.Second)); ok {
		t.Error("TokenRate is ok after the end of the turn")
	}
}

func TestBar(t *testing.T) {
	for _, c := range []struct {
		fraction float64
		width    int
		want     string
	}{
		{0, 4, "░░░░"},
		{0.01, 4, "█░░░"},
		{0.5, 4, "██░░"},
		{0.99, 4, "███░"},
		{1, 4, "████"},
		{7, 3, "███"},
		{-1, 2, "░░"},
		{0.3, 0, ""},
		{0.2, 1, "█"},
	} {
		if got := Bar(c.fraction, c.width); got != c.want {
			t.Errorf("Bar(%v, %d) = %q, want %q", c.fraction, c.width, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(0, 50).Draw(t, "width")
		if n := utf8.RuneCountInString(Bar(rapid.Float64().Draw(t, "fraction"), width)); n != width {
			t.Fatalf("%d cells, want %d", n, width)
		}
	})
}

func TestSparkline(t *testing.T) {
	if got, want := Sparkline([]int64{0, 1, 50, 99, 100, 900}, 100), " ▁▅███"; got != want {
		t.Errorf("Sparkline: got %q, want %q", got, want)
	}
	if got := Sparkline([]int64{3}, 0); got != " " {
		t.Errorf("limit 0: got %q, want a blank", got)
	}
}

package usage

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"agentctl/protocol"
)

var dawn = time.Date(2026, 3, 4, 9, 41, 0, 0, time.UTC)

func event(turn string, t protocol.Type, data any) *protocol.Event {
	return &protocol.Event{Seq: 1, Turn: turn, Type: t, Data: protocol.MustEncode(data)}
}

func turnOf(turn string, tokens int64) []*protocol.Event {
	return []*protocol.Event{
		event(turn, protocol.TurnStarted, protocol.TurnStartedData{}),
		event(turn, protocol.ContextUpdated, protocol.ContextInfo{Tokens: tokens, MaxTokens: 100}),
		event(turn, protocol.TurnEnded, protocol.TurnEndedData{Usage: &protocol.Usage{Output: tokens / 10}}),
	}
}

func filled(m *Tracker) []int64 {
	var out []int64
	for _, t := range m.Turns() {
		out = append(out, t.Tokens)
	}
	return out
}

func TestTheContextIsKeptByTurn(t *testing.T) {
	m := &Tracker{}
	m.Reset(&protocol.State{})
	for _, e := range slices.Concat(turnOf("t3", 30), []*protocol.Event{event("t4", protocol.TurnStarted, protocol.TurnStartedData{})}) {
		m.Apply(e, dawn, false)
	}
	m.Prepend(slices.Concat(turnOf("t1", 10), turnOf("t2", 20), turnOf("t3", 30)))
	if got, want := filled(m), []int64{10, 20, 30, 30}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if m.Turns()[0].MaxTokens != 100 {
		t.Errorf("the first turn is %+v", m.Turns()[0])
	}
	m.Apply(event("t4", protocol.ContextCompacted, protocol.ContextCompactedData{Before: 30, After: 5}), dawn, true)
	if got := m.Turns()[3].Tokens; got != 5 || m.LastCompaction().Before != 30 {
		t.Errorf("after the compaction %d, %+v", got, m.LastCompaction())
	}
}

func TestACompactionBetweenTurnsBelongsToTheNext(t *testing.T) {
	m := &Tracker{}
	for _, e := range slices.Concat(turnOf("t1", 80), []*protocol.Event{
		event("", protocol.ContextCompacted, protocol.ContextCompactedData{Before: 80, After: 5}),
		event("", protocol.ContextUpdated, protocol.ContextInfo{Tokens: 6, MaxTokens: 100}),
	}) {
		m.Apply(e, dawn, true)
	}
	m.Apply(event("t2", protocol.TurnStarted, protocol.TurnStartedData{}), dawn, true)
	if got, want := filled(m), []int64{80, 6}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestWhatWasBeforeIsKnownInTheTurnUnderWay(t *testing.T) {
	m := &Tracker{}
	m.Reset(&protocol.State{Turn: &protocol.TurnState{Turn: "t2"}})
	m.Prepend(turnOf("t1", 40))
	if got, want := filled(m), []int64{40, 40}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestTurnsAreBounded(t *testing.T) {
	m := &Tracker{}
	for i := range 3 * turnsMost {
		m.Apply(event(strings.Repeat("t", i+1), protocol.TurnStarted, protocol.TurnStartedData{}), dawn, false)
	}
	if n := len(m.Turns()); n != turnsMost {
		t.Errorf("%d turns are kept", n)
	}
}

func TestTheRateIsEstimatedFromWhatIsWritten(t *testing.T) {
	m := &Tracker{}
	m.Apply(event("t", protocol.TurnStarted, protocol.TurnStartedData{}), dawn, true)
	delta := event("t", protocol.TextDelta, protocol.PartDeltaData{Text: strings.Repeat("x", 400)})
	now := dawn
	for range 30 {
		m.Apply(delta, now, true)
		now = now.Add(500 * time.Millisecond)
	}
	if per, estimated, ok := m.TokenRate(now); !ok || !estimated || per != 200 {
		t.Errorf("%v tokens a second (estimated %v, ok %v), want about 200", per, estimated, ok)
	}
	if per, _, ok := m.TokenRate(now.Add(4 * time.Second)); !ok || per > 150 {
		t.Errorf("after a pause %v tokens a second", per)
	}
	if _, _, ok := m.TokenRate(now.Add(span * time.Second)); ok {
		t.Error("silence has a rate")
	}
}

func TestWhatIsCaughtUpWithHasNoRate(t *testing.T) {
	m := &Tracker{}
	m.Apply(event("t", protocol.TurnStarted, protocol.TurnStartedData{}), dawn, false)
	folded := event("t", protocol.TextDelta, protocol.PartDeltaData{Text: strings.Repeat("x", 4000)})
	folded.FirstSeq = 1
	for i := range 4 {
		m.Apply(folded, dawn.Add(time.Duration(i)*time.Second), true)
		m.Apply(event("t", protocol.TextDelta, protocol.PartDeltaData{Text: "x"}), dawn.Add(time.Duration(i)*time.Second), false)
	}
	if _, _, ok := m.TokenRate(dawn.Add(3 * time.Second)); ok {
		t.Error("what happened before has a rate")
	}
}

func TestWhatTheAgentCountsIsNoEstimate(t *testing.T) {
	m := &Tracker{}
	m.Reset(&protocol.State{Usage: &protocol.Usage{Output: 1000}})
	m.Apply(event("t", protocol.TurnStarted, protocol.TurnStartedData{}), dawn, true)
	m.Apply(event("t", protocol.UsageUpdated, protocol.Usage{Output: 1100}), dawn.Add(2*time.Second), true)
	if per, estimated, ok := m.TokenRate(dawn.Add(3 * time.Second)); !ok || estimated || per != 50 {
		t.Errorf("%v tokens a second (estimated %v, ok %v), want 50", per, estimated, ok)
	}
	if _, _, ok := m.TokenRate(dawn.Add(time.Minute)); ok {
		t.Error("it holds for ever")
	}
	m.Apply(event("t", protocol.UsageUpdated, protocol.Usage{Output: 1200}), dawn.Add(61*time.Second), true)
	m.Apply(event("t", protocol.TurnEnded, protocol.TurnEndedData{}), dawn.Add(62*time.Second), true)
	if _, _, ok := m.TokenRate(dawn.Add(62 * time.Second)); ok {
		t.Error("an ended turn has a rate")
	}
}

func TestABarHasItsWidth(t *testing.T) {
	for _, c := range []struct {
		fraction float64
		width    int
		want     string
	}{
		{0, 4, "░░░░"}, {0.01, 4, "█░░░"}, {0.5, 4, "██░░"}, {0.99, 4, "███░"}, {1, 4, "████"}, {7, 3, "███"}, {-1, 2, "░░"}, {0.3, 0, ""}, {0.2, 1, "█"},
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

func TestASparkIsAsHighAsItsValue(t *testing.T) {
	if got, want := Sparkline([]int64{0, 1, 50, 99, 100, 900}, 100), " ▁▅███"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Sparkline([]int64{3}, 0); got != " " {
		t.Errorf("without a measure %q", got)
	}
}

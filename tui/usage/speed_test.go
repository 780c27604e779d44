package usage

import (
	"strings"
	"testing"
	"time"

	_ "agentctl/internal/dev/golden" // the flag -update
	"agentctl/protocol"
	"agentctl/tui/turns"
)

var start = time.Date(2026, 3, 4, 9, 41, 0, 0, time.UTC)

func event(turn string, t protocol.Type, data any) *protocol.Event {
	return &protocol.Event{Seq: 1, Turn: turn, Type: t, Data: protocol.MustEncode(data)}
}

// session is the speed of a session whose turns are read too.
type session struct {
	Speed
	turns turns.Turns
}

func (s *session) Apply(e *protocol.Event, now time.Time, live bool) {
	if _, err := s.turns.Apply(e); err != nil {
		panic(err)
	}
	s.Speed.Apply(e, s.turns.Added(), now, live)
}

func TestTokenRateEstimate(t *testing.T) {
	u := &session{}
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
	u := &session{}
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
		u := &session{}
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
	u := &session{}
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

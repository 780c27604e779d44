package turns

import (
	"slices"
	"strings"
	"testing"

	"agentctl/protocol"
)

func event(turn string, t protocol.Type, data any) *protocol.Event {
	return &protocol.Event{Seq: 1, Turn: turn, Type: t, Data: protocol.MustEncode(data)}
}

// past returns the turns of a page.
func past(t *testing.T, events []*protocol.Event) *Turns {
	t.Helper()
	page := &protocol.HistoryResult{}
	for _, e := range events {
		page.Events = append(page.Events, e.AppendJSON(nil))
	}
	out, err := Past(page)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func contextEvents(turn string, tokens int64) []*protocol.Event {
	return []*protocol.Event{
		event(turn, protocol.MessageUser, protocol.MessageUserData{}),
		event(turn, protocol.TurnStarted, protocol.TurnStartedData{}),
		event(turn, protocol.ContextUpdated, protocol.ContextInfo{Tokens: tokens, MaxTokens: 100}),
		event(turn, protocol.TurnEnded, protocol.TurnEndedData{Usage: &protocol.Usage{Output: tokens / 10}}),
	}
}

func contextTokens(u *Turns) []int64 {
	var out []int64
	for _, t := range u.Contexts() {
		out = append(out, t.Tokens)
	}
	return out
}

func TestContextPerTurn(t *testing.T) {
	u := &Turns{}
	u.Reset(0, &protocol.State{})
	for _, e := range contextEvents("t3", 30) {
		apply(t, u, e)
	}
	apply(t, u, event("t4", protocol.TurnStarted, protocol.TurnStartedData{}))
	u.Prepend(past(t, slices.Concat(contextEvents("t1", 10), contextEvents("t2", 20), contextEvents("t3", 30))), 0)
	if got, want := contextTokens(u), []int64{10, 20, 30, 30}; !slices.Equal(got, want) {
		t.Errorf("context tokens: got %v, want %v", got, want)
	}
	if u.Contexts()[0].MaxTokens != 100 {
		t.Errorf("first turn: %+v, want 100 maximum tokens", u.Contexts()[0])
	}
	apply(t, u, event("t4", protocol.ContextCompacted, protocol.ContextCompactedData{Before: 30, After: 5}))
	if got := u.Contexts()[3].Tokens; got != 5 || u.LastCompaction().Before != 30 {
		t.Errorf("after the compaction: %d tokens, %+v", got, u.LastCompaction())
	}
}

func TestCompactionBetweenTurns(t *testing.T) {
	u := &Turns{}
	for _, e := range slices.Concat(contextEvents("t1", 80), []*protocol.Event{
		event("", protocol.ContextCompacted, protocol.ContextCompactedData{Before: 80, After: 5}),
		event("", protocol.ContextUpdated, protocol.ContextInfo{Tokens: 6, MaxTokens: 100}),
	}) {
		apply(t, u, e)
	}
	apply(t, u, event("t2", protocol.TurnStarted, protocol.TurnStartedData{}))
	if got, want := contextTokens(u), []int64{80, 6}; !slices.Equal(got, want) {
		t.Errorf("context tokens: got %v, want %v", got, want)
	}
}

func TestRunningTurnContext(t *testing.T) {
	u := &Turns{}
	u.Reset(0, &protocol.State{Turn: &protocol.TurnState{Turn: "t2"}})
	u.Prepend(past(t, contextEvents("t1", 40)), 0)
	if got, want := contextTokens(u), []int64{40, 40}; !slices.Equal(got, want) {
		t.Errorf("context tokens: got %v, want %v", got, want)
	}
}

func TestTurnsAreLimited(t *testing.T) {
	u := &Turns{}
	for i := range 3 * maxContexts {
		apply(t, u, event(strings.Repeat("t", i+1), protocol.TurnStarted, protocol.TurnStartedData{}))
	}
	if n := len(u.Contexts()); n != maxContexts {
		t.Errorf("%d turns kept, want %d", n, maxContexts)
	}
}

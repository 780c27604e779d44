package describe

import (
	"strings"
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestAwaySummary(t *testing.T) {
	event := func(typ protocol.Type, by *protocol.Actor, data any) *protocol.Event {
		return &protocol.Event{Type: typ, By: by, Data: protocol.MustEncode(data)}
	}
	for want, e := range map[string]*protocol.Event{
		"you reconnected here · the server was restarted · ": event(
			protocol.QueueHeld, nil, protocol.Hold{Reason: protocol.HoldRestart},
		),
		"you reconnected here · the server was restarted": event(
			protocol.TurnStarted, nil, protocol.TurnStartedData{Resumed: true},
		),
		"you reconnected here · 1 approval allowed by a rule": event(
			protocol.ApprovalResolved, &tuitest.Ada,
			protocol.ApprovalResolvedData{Request: "r", Outcome: protocol.Allowed, ByRule: "u1"},
		),
		"you reconnected here · 1 approval expired": event(
			protocol.ApprovalResolved, nil,
			protocol.ApprovalResolvedData{Request: "r", Outcome: protocol.Expired},
		),
		"you reconnected here · the server was restarted · 1 turn ended": event(
			protocol.TurnEnded, nil, protocol.TurnEndedData{Code: protocol.CodeServerRestart},
		),
		"": event(protocol.QueueHeld, nil, protocol.Hold{Reason: protocol.HoldUser}),
	} {
		var a Away
		a.Disconnected(tuitest.Start)
		a.Reconnected(&protocol.SubscribeResult{Mode: protocol.ModeResume}, 5)
		a.Apply(e)
		if got := a.CaughtUp(tuitest.Start, 6); got != strings.TrimSuffix(want, " · ") {
			t.Errorf("%s: got %q, want %q", e.Type, got, want)
		}
		if a.Apply(e); a.CaughtUp(tuitest.Start, 6) != "" {
			t.Errorf("%s: the summary is reported twice", e.Type)
		}
	}
}

func TestAwaySummaryListsThreeDecisions(t *testing.T) {
	var a Away
	a.Reconnected(&protocol.SubscribeResult{Mode: protocol.ModeResume}, 5)
	ask := &protocol.Event{Type: protocol.ApprovalRequested, Data: protocol.MustEncode(protocol.Approval{Request: "r1"})}
	for range 5 {
		a.Apply(ask)
		a.Apply(&protocol.Event{
			Type: protocol.ApprovalResolved, By: &tuitest.Bob,
			Data: protocol.MustEncode(protocol.ApprovalResolvedData{Request: "r1", Outcome: protocol.Denied}),
		})
	}
	a.Apply(ask)
	want := "you reconnected here · " + strings.Repeat("1 approval denied by bob · ", 3) +
		"2 more decided · 1 approval waiting"
	if got := a.CaughtUp(tuitest.Start, 16); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEveryModeOfAResubscriptionHasItsWords(t *testing.T) {
	for _, c := range []struct{ mode, reason, want string }{
		{protocol.ModeResume, "", ""},
		{protocol.ModeResume, protocol.ResumeReplayed, "what was missed was replayed"},
		{protocol.ModeResume, protocol.ResumeRestored, "restored from its saved state"},
		{protocol.ModeResume, protocol.ResetEpoch, ""},
		{protocol.ModeReset, protocol.ResetFresh, "a fresh snapshot: the current state"},
		{protocol.ModeReset, protocol.ResetResubscribed, "resubscribed: turns that ended since then are not shown"},
		{
			protocol.ModeReset, protocol.ResetEpoch,
			"the session's log was replaced: its current state",
		},
		{
			protocol.ModeReset, protocol.ResetPastEnd,
			"the session's log was replaced: its current state",
		},
	} {
		if got := Resubscribed(c.mode, c.reason); got != c.want {
			t.Errorf("%s, %s: got %q, want %q", c.mode, c.reason, got, c.want)
		}
	}
}

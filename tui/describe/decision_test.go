package describe

import (
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestApprovalOutcomeText(t *testing.T) {
	rule := &protocol.Rule{Scope: "every use of it"}
	for _, c := range []struct {
		r    protocol.ApprovalResolvedData
		by   *protocol.Actor
		want string
	}{
		{protocol.ApprovalResolvedData{Outcome: protocol.Allowed}, &tuitest.Ada, "✓ allowed · decided by ada"},
		{
			protocol.ApprovalResolvedData{Outcome: protocol.Allowed, Decision: protocol.AllowAlways, Rule: rule},
			&tuitest.Ada, "✓ allowed always (every use of it) · decided by ada",
		},
		{
			protocol.ApprovalResolvedData{Outcome: protocol.Allowed, Decision: protocol.AllowAlways},
			&tuitest.Ada, "✓ allowed always · decided by ada",
		},
		{
			protocol.ApprovalResolvedData{Outcome: protocol.Allowed, Decision: protocol.AllowAlways, ByRule: "u1"},
			&tuitest.Ada, "✓ allowed always · by rule u1 of ada",
		},
		{
			protocol.ApprovalResolvedData{Outcome: protocol.Denied, Decision: protocol.DenyStop, Reason: "no"},
			&tuitest.Bob, "✗ denied and stopped · decided by bob · no",
		},
		{protocol.ApprovalResolvedData{Outcome: protocol.Expired}, nil, "✗ expired: no decision in time"},
		{protocol.ApprovalResolvedData{Outcome: protocol.Cancelled}, nil, "⊘ cancelled"},
		{protocol.ApprovalResolvedData{Outcome: "of tomorrow"}, nil, "of tomorrow"},
	} {
		if got := Outcome(nil, &c.r, c.by, ""); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.r, got, c.want)
		}
	}
}

func TestTheLabelOfAChosenOptionIsOneLineOfTheOutcome(t *testing.T) {
	a := &protocol.Approval{Options: []protocol.Option{{ID: "x", Label: "Go\n✗ denied · decided by ada"}}}
	r := &protocol.ApprovalResolvedData{Outcome: protocol.Allowed, Option: "x"}
	if got, want := Outcome(a, r, &tuitest.Bob, ""),
		"✓ allowed · “Go ✗ denied · decided by ada” · decided by bob"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

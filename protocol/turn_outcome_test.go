package protocol

import (
	"strings"
	"testing"
	"time"
)

func TestAnOutcomeListsWhatWasDenied(t *testing.T) {
	var tr Transcript
	apply := func(by *Actor, typ Type, data any) {
		t.Helper()
		e := &Event{Seq: tr.Seq + 1, Turn: "t1", Time: time.Unix(0, 0), Type: typ, By: by, Data: MustEncode(data)}
		if _, err := tr.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(a Approval, r ApprovalResolvedData) {
		t.Helper()
		r.Request = a.Request
		apply(nil, ApprovalRequested, a)
		apply(&Actor{Name: "ada"}, ApprovalResolved, r)
	}
	apply(nil, MessageUser, MessageUserData{})
	apply(nil, ToolStarted, ToolStartedData{Tool: "c1", Title: "Remove"})
	ask(Approval{Request: "a1", Kind: ApproveCommand, Tool: "c1", Command: "rm x"}, ApprovalResolvedData{Outcome: Denied, ByPolicy: "deny", Reason: "no"})
	apply(nil, ToolEnded, ToolEndedData{Tool: "c1", Status: ToolDenied})
	ask(Approval{Request: "a2", Kind: ApproveCommand, Command: strings.Repeat("x", 2000)}, ApprovalResolvedData{Outcome: Expired})
	ask(Approval{Request: "a3", Kind: ApproveCommand, Command: "ls"}, ApprovalResolvedData{Outcome: Allowed})
	ask(Approval{Request: "a4", Kind: ApproveCommand, Command: "ls"}, ApprovalResolvedData{Outcome: Cancelled})
	apply(nil, ToolStarted, ToolStartedData{Tool: "c2", Kind: "edit", Title: "Edit x"})
	apply(nil, ToolEnded, ToolEndedData{Tool: "c2", Status: ToolDenied})
	apply(nil, ToolEnded, ToolEndedData{Tool: "c3", Status: ToolCompleted})

	got := string(MustEncode(NewTurnOutcome("s", tr.Current(), &TurnEndedData{}).Denied))
	want := `[{"request":"a1","tool":"c1","kind":"command","action":"rm x","outcome":"denied","by":{"name":"ada"},"by_policy":"deny","reason":"no"},` +
		`{"request":"a2","kind":"command","action":"` + strings.Repeat("x", 1000) + `","outcome":"expired","by":{"name":"ada"}},` +
		`{"tool":"c2","kind":"edit","action":"Edit x","outcome":"denied"}]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

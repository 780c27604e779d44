package policy

import (
	"testing"

	"agentctl/protocol"
)

func TestPolicies(t *testing.T) {
	calls := []Call{
		{Kind: protocol.ToolRead, Safe: true, Contained: true},
		{Kind: protocol.ToolThink, Safe: true, Contained: true},
		{Kind: protocol.ToolRead},
		{Kind: protocol.ToolSearch},
		{Kind: protocol.ToolEdit, Contained: true},
		{Kind: protocol.ToolEdit},
		{Kind: protocol.ToolExecute},
		{Kind: protocol.ToolExecute, Contained: true}, // no tool reports this for a command
		{Kind: protocol.ToolFetch},
		{Kind: protocol.ToolOther},
		{Kind: protocol.ToolThink, Plan: true},
	}
	for policy, want := range map[Policy]string{
		//        in  think out out in  out run run fetch ? plan
		Ask:       "+ + ? ? ? ? ? ? ? ? ?",
		"":        "+ + ? ? ? ? ? ? ? ? ?",
		"unknown": "+ + ? ? ? ? ? ? ? ? ?",
		AutoRead:  "+ + + + ? ? ? ? ? ? ?",
		AutoEdit:  "+ + ? ? + ? ? ? ? ? ?",
		Full:      "+ + + + + + + + + + ?",
		Deny:      "+ + - - - - - - - - ?",
		Plan:      "+ + ? ? - - - - - - ?",
	} {
		got := ""
		for _, c := range calls {
			r := policy.Judge(c)
			if (r.Action == Refuse) != (r.Reason != "") {
				t.Errorf("%s: %+v: reason %q", policy, c, r.Reason)
			}
			if got != "" {
				got += " "
			}
			got += map[Action]string{Allow: "+", AskUser: "?", Refuse: "-"}[r.Action]
		}
		if got != want {
			t.Errorf("%-9s %s, want %s", policy, got, want)
		}
	}
}

func TestValidPolicies(t *testing.T) {
	for _, d := range All {
		if !d.Policy.Valid() || d.Label == "" || d.About == "" || d.Requests == "" {
			t.Errorf("%+v", d)
		}
	}
	if !Policy("").Valid() || Policy("yolo").Valid() {
		t.Error("valid: the empty policy, and no other")
	}
}

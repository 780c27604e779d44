package protocol

import "testing"

func TestARequestThatAPolicyOrARuleDecidesIsKnown(t *testing.T) {
	a := Approval{
		Kind: ApproveCommand, Command: "ls", CWD: "/w",
		Options: []Option{{Kind: AllowAlways}, {Kind: Deny}},
	}
	var s State
	if s.DecidedAtOnce(&a) {
		t.Error("nothing decides it")
	}
	s.Rules = []Rule{{ID: "r1", Kind: ApproveCommand, Subject: a.Subject()}}
	if !s.DecidedAtOnce(&a) {
		t.Error("a rule decides it")
	}
	s.Rules, a.Policy = nil, "deny"
	if !s.DecidedAtOnce(&a) {
		t.Error("a policy decides it")
	}
}

func TestThePolicyOfAStateIsThatOfItsSettings(t *testing.T) {
	s := State{}
	if s.Policy() != "" {
		t.Error("without settings")
	}
	s.Options = &Options{Settings: []Setting{{ID: "mode", Value: "code"}}}
	if s.Policy() != "" {
		t.Error("without a policy")
	}
	s.Options.Settings = append(s.Options.Settings, Setting{ID: PolicySetting, Value: "plan"})
	if s.Policy() != "plan" {
		t.Errorf("%q", s.Policy())
	}
}

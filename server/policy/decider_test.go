package policy

import (
	"maps"
	"testing"
	"time"

	"agentctl/protocol"
)

var aFile = &protocol.PolicyFile{Name: "ci.json", Timeout: "5m", Allow: []protocol.PolicyRule{{Program: "make"}}}

func TestANewSessionTakesItsPolicyFromItsSettings(t *testing.T) {
	settings := map[string]string{SettingID: "deny", "mode": "code"}
	rest := map[string]string{"mode": "code"}
	asks := map[string]string{SettingID: "ask", "mode": "code"}
	for name, c := range map[string]struct {
		d        Decider
		settings map[string]string
		policy   Policy
		left     map[string]string
	}{
		"an agent without a policy":          {Decider{}, settings, Deny, rest},
		"nothing is chosen":                  {Decider{}, rest, "", rest},
		"an agent with a policy":             {Decider{AgentHas: true}, settings, "", settings},
		"an agent with a policy, and a file": {Decider{AgentHas: true, Choice: Choice{File: aFile}}, settings, "", asks},
		"a file":                             {Decider{Choice: Choice{File: aFile}}, rest, "", rest},
	} {
		left, err := c.d.Take(c.settings)
		if err != nil || c.d.Policy != c.policy || !maps.Equal(left, c.left) {
			t.Errorf("%s: %q, %v, %v", name, c.d.Policy, left, err)
		}
	}
	for _, d := range []Decider{{}, {Choice: Choice{File: &protocol.PolicyFile{Timeout: "soon"}}}} {
		_, err := d.Take(map[string]string{SettingID: "yolo"})
		if protocol.CodeOf(err) != protocol.CodeInvalidMessage {
			t.Errorf("%+v: %v", d, err)
		}
	}
}

func TestAChoiceOfAPolicyReplacesTheFile(t *testing.T) {
	file := Choice{File: aFile}
	for _, c := range []struct {
		d     Decider
		value string
		want  Choice
	}{
		{Decider{}, "auto-edit", Choice{Policy: AutoEdit}},
		{Decider{Choice: file}, "file:ci.json", file},
		{Decider{Choice: file}, "deny", Choice{Policy: Deny}},
		{Decider{Choice: file, AgentHas: true}, "deny", Choice{}},
		{Decider{AgentHas: true}, "of the agent", Choice{}},
		{Decider{Configured: Full}, "full", Choice{Policy: Full}},
	} {
		if got, err := c.d.Choose(c.value); err != nil || got != c.want {
			t.Errorf("%+v: %s: %+v, %v", c.d, c.value, got, err)
		}
	}
	for _, d := range []Decider{{}, {Choice: file}, {Choice: file, AgentHas: true}} {
		if _, err := d.Choose("full"); protocol.CodeOf(err) != protocol.CodeInvalidMessage {
			t.Errorf("%+v: full: %v", d, err)
		}
	}
}

func TestAllowedPlansEndPlanning(t *testing.T) {
	plan := Choice{Policy: Plan}
	for _, c := range []struct {
		d    Decider
		kind string
		next Policy // empty: it plans on
	}{
		{Decider{Choice: plan}, protocol.ApprovePlan, Ask},
		{Decider{Choice: plan, Configured: AutoEdit}, protocol.ApproveTool, AutoEdit},
		{Decider{Configured: Plan}, protocol.ApprovePlan, Ask},
		{Decider{Choice: plan}, protocol.ApproveQuestion, ""},
		{Decider{Choice: plan, AgentHas: true}, protocol.ApprovePlan, ""},
		{Decider{Choice: Choice{Policy: Plan, File: aFile}}, protocol.ApprovePlan, ""},
		{Decider{}, protocol.ApprovePlan, ""},
	} {
		next, ok := c.d.AfterPlan(&protocol.Approval{Kind: c.kind})
		if ok != (c.next != "") || ok && next != (Choice{Policy: c.next}) {
			t.Errorf("%+v: %s: %+v, %t", c.d, c.kind, next, ok)
		}
	}
}

func TestTheShorterTimeoutHolds(t *testing.T) {
	d := Decider{Choice: Choice{File: aFile}}
	for server, want := range map[time.Duration]time.Duration{
		0: 5 * time.Minute, time.Minute: time.Minute, time.Hour: 5 * time.Minute,
	} {
		if got := d.Timeout(server); got != want {
			t.Errorf("%s: %s", server, got)
		}
	}
	if got := (&Decider{}).Timeout(time.Hour); got != time.Hour {
		t.Errorf("without a file: %s", got)
	}
}

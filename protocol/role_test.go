package protocol

import "testing"

func TestAnAgentReadsAllAndChangesItsOwnSessionsAndDecidesNothing(t *testing.T) {
	for _, c := range Commands {
		want := ScopeEvery
		switch {
		case c.Role == RoleApprover:
			want = ScopeNone
		case c.Changes || c.Verb == DoExport:
			want = ScopeOwn
		}
		if got := RoleAgent.Scope(c.Verb); got != want || RoleAgent.May(c.Verb) != (want != ScopeNone) {
			t.Errorf("%s: %s, want %s", c.Verb, got, want)
		}
	}
}

func TestALinkDecidesOneRequestAndNothingElse(t *testing.T) {
	for _, c := range Commands {
		want := ScopeNone
		if c.Verb == DoApprove {
			want = ScopeRequest
		}
		if got := RoleDecider.Scope(c.Verb); got != want {
			t.Errorf("%s: %s, want %s", c.Verb, got, want)
		}
	}
}

func TestTheRoleOfMetricsAllowsNoCommand(t *testing.T) {
	for _, c := range Commands {
		if RoleMetrics.May(c.Verb) {
			t.Errorf("%s", c.Verb)
		}
	}
}

func TestEachRoleIncludesTheWeakerOnes(t *testing.T) {
	for _, c := range Commands {
		allowed := false
		for _, r := range append([]Role{"stranger"}, append(Roles, "")...) {
			if allowed && !r.May(c.Verb) || r.May(c.Verb) && r.Scope(c.Verb) != ScopeEvery {
				t.Errorf("%q: %s", r, c.Verb)
			}
			allowed = r.May(c.Verb)
		}
		if !allowed || !RoleAdmin.May(c.Verb) {
			t.Errorf("an admin may not %s", c.Verb)
		}
	}
}

func TestTheActorOfAnAgentNamesItsSession(t *testing.T) {
	for _, c := range []struct{ session, name, want string }{
		{"s_1", "", "agent of session s_1"}, {"s_1", "fix", "agent of session fix"},
	} {
		if a := AgentActor(c.session, c.name); a.Name != c.want || a.AgentSession() != "s_1" {
			t.Errorf("%+v, %q", a, a.AgentSession())
		}
	}
	if s := (Actor{Name: "agent:s_1", Subject: "ann"}).AgentSession(); s != "" {
		t.Errorf("ann is the agent of %q", s)
	}
}

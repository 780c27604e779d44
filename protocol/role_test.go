package protocol

import (
	"slices"
	"testing"
)

func TestAnAgentReadsAllAndChangesItsOwnSessionsAndDecidesNothing(t *testing.T) {
	for _, c := range Commands {
		want := ScopeEvery
		switch {
		case c.Role == RoleApprover:
			want = ScopeNone
		case c.Changes || c.Verb == DoExport || c.Verb == DoDiff:
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

// A caller without a role may everything, an unknown role what an observer may. An unknown verb needs
// an operator.
func TestEachRoleIncludesTheWeakerOnes(t *testing.T) {
	required := map[Verb]Role{
		"of.tomorrow": RoleOperator, DoPing: RoleObserver, DoSubscribe: RoleObserver, DoSend: RoleOperator,
		DoInterrupt: RoleOperator, DoApprove: RoleApprover, DoRulesRevoke: RoleApprover,
	}
	for _, c := range Commands {
		if want, ok := required[c.Verb]; ok && c.Role != want {
			t.Errorf("%s requires %s, want %s", c.Verb, c.Role, want)
		}
		required[c.Verb] = c.Role
	}
	for v, least := range required {
		for _, r := range append([]Role{"unknown", ""}, Roles...) {
			want := ScopeNone
			if r == "" || slices.Index(Roles, r) >= slices.Index(Roles, least) || least == Roles[0] {
				want = ScopeEvery
			}
			if got := r.Scope(v); got != want || r.May(v) != (want == ScopeEvery) {
				t.Errorf("%q, %s: %s, want %s", r, v, got, want)
			}
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

package protocol

import "testing"

func TestASandboxWithinAnotherIsNeverWeaker(t *testing.T) {
	networks := []SandboxNetwork{"", SandboxNetworkOn, SandboxNetworkOff}
	rank := map[SandboxMode]int{"": 0, SandboxOff: 0, SandboxWorkspace: 1, SandboxReadOnly: 2}
	for outerMode := range rank {
		for mode := range rank {
			for _, outerNetwork := range networks {
				for _, network := range networks {
					outer, inner := Sandbox{outerMode, outerNetwork}, Sandbox{mode, network}
					got := inner.Within(outer)
					if want := max(rank[mode], rank[outerMode]); rank[got.Mode] != want {
						t.Errorf("%+v within %+v: %+v", inner, outer, got)
					}
					off := network == SandboxNetworkOff || outerNetwork == SandboxNetworkOff
					if (got.Network == SandboxNetworkOff) != off {
						t.Errorf("%+v within %+v: %+v", inner, outer, got)
					}
				}
			}
		}
	}
}

func TestASandboxTakesWhatItLeavesOpenFromTheFirstThatSaysIt(t *testing.T) {
	const work, only, off = SandboxWorkspace, SandboxReadOnly, SandboxNetworkOff
	for _, c := range []struct {
		session, agent, server, want Sandbox
	}{
		{},
		{server: Sandbox{work, off}, want: Sandbox{work, off}},
		{agent: Sandbox{only, ""}, server: Sandbox{work, off}, want: Sandbox{only, off}},
		{agent: Sandbox{only, SandboxNetworkOn}, server: Sandbox{work, off}, want: Sandbox{only, ""}},
		{agent: Sandbox{SandboxOff, ""}, server: Sandbox{work, off}, want: Sandbox{}},
		{session: Sandbox{work, ""}, agent: Sandbox{only, ""}, want: Sandbox{work, ""}},
		{session: Sandbox{work, ""}, agent: Sandbox{only, off}, want: Sandbox{work, off}},
		{session: Sandbox{SandboxOff, ""}, agent: Sandbox{only, off}, server: Sandbox{work, ""}, want: Sandbox{}},
		{session: Sandbox{"", off}, server: Sandbox{work, ""}, want: Sandbox{work, off}},
		{session: Sandbox{"", off}, want: Sandbox{"", off}}, // refused by Check
		{session: Sandbox{work, SandboxNetworkOn}, want: Sandbox{work, ""}},
	} {
		if got := c.session.Or(c.agent, c.server); got != c.want {
			t.Errorf("%+v or %+v or %+v: %+v, want %+v", c.session, c.agent, c.server, got, c.want)
		}
		if got := c.session.Or(c.agent.Or(c.server)); got != c.want {
			t.Errorf("%+v or (%+v or %+v): %+v, want %+v", c.session, c.agent, c.server, got, c.want)
		}
	}
}

func TestASandboxIsChecked(t *testing.T) {
	for s, valid := range map[Sandbox]bool{
		{}:                                        true,
		{SandboxOff, ""}:                          true,
		{SandboxWorkspace, ""}:                    true,
		{SandboxReadOnly, SandboxNetworkOff}:      true,
		{SandboxOff, SandboxNetworkOff}:           false,
		{"", SandboxNetworkOff}:                   false,
		{"workspace ", ""}:                        false,
		{SandboxWorkspace, "none"}:                false,
		{SandboxWorkspace, SandboxNetworkOn}:      true,
		{SandboxMode("full"), SandboxNetwork("")}: false,
	} {
		if err := s.Check(); (err == nil) != valid {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

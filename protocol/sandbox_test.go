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

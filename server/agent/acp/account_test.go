package acp

import (
	"testing"

	"agentctl/protocol"
)

func TestAReportOfOneWindowKeepsTheOthers(t *testing.T) {
	var a account
	window := func(name string, percent float64) []protocol.UsageWindow {
		return []protocol.UsageWindow{{Name: name, Percent: percent}}
	}
	for i, c := range []struct {
		reported []protocol.UsageWindow
		want     int
		changed  bool
	}{
		{window("five hours", 10), 1, true},
		{window("week", 5), 2, true},
		{window("five hours", 10), 2, false},
		{nil, 2, false},
		{window("five hours", 20), 2, true},
	} {
		all, changed := a.setWindows(c.reported)
		if len(all) != c.want || changed != c.changed {
			t.Errorf("report %d: %+v, changed %t", i, all, changed)
		}
	}
	if all, _ := a.setWindows(nil); all[0].Percent != 20 || all[1].Percent != 5 {
		t.Errorf("kept %+v", all)
	}
}

func TestACostIsTakenOnce(t *testing.T) {
	var a account
	a.setCost(&cost{Amount: 2})
	if got := a.takeCost(); got == nil || got.Amount != 2 || a.takeCost() != nil {
		t.Errorf("took %+v", got)
	}
}

func TestAnAgentWithAKeyIsNotLoggedOut(t *testing.T) {
	for _, c := range []struct {
		env  []string
		want bool
	}{{nil, true}, {[]string{"KEY="}, true}, {[]string{"OTHER=x"}, true}, {[]string{"KEY=x"}, false}} {
		var a account
		a.applyStatus("_auth/status_update", []byte(`{"authStatus":{"kind":"none"}}`))
		if got := a.isLoggedOut([]string{"FIRST", "KEY"}, c.env); got != c.want {
			t.Errorf("with %q: logged out %t", c.env, got)
		}
	}
}

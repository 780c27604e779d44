package tui

import (
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/dashboard"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/serverset"
)

// newServersDashboard returns a dashboard of two servers, local and box, with one waiting session
// each.
func newServersDashboard(t *testing.T) *testDashboard {
	t.Helper()
	local, box := tuitest.NewServer(), tuitest.NewServer()
	local.SetPending(tuitest.CommandApproval())
	box.SetPending(tuitest.CommandApproval())
	box.DefaultSandbox = &protocol.Sandbox{Mode: protocol.SandboxWorkspace}
	d := &testDashboard{t: t, server: local, now: tuitest.Start}
	set := serverset.New(serverset.Member{Name: "local", Server: local}, serverset.Member{Name: "box", Server: box})
	d.p = testDashboardModel(t.Context(), Options{}, fixedClock(tuitest.Start), set)
	t.Cleanup(func() {
		for _, o := range d.p.sessions.all {
			o.tasks.Close()
		}
	})
	d.p.watch.request()
	d.send(dashboard.ConnMsg{State: remote.Connected})
	d.boxConn(remote.Connected)
	for _, id := range []string{"s1", "box/s1"} {
		d.sendSummaries(protocol.Summary{
			Session: id, Name: "name-" + id, Status: protocol.Waiting, Approvals: 1,
			Asked: &tuitest.Start, Updated: tuitest.Start,
		})
	}
	return d
}

func (d *testDashboard) boxConn(state remote.ConnState) {
	d.send(dashboard.ServerConnsMsg{{Server: "box", Conn: remote.Conn{State: state, Reason: "connection refused"}}})
}

func TestTheTitleCountsTheSessionsOfAllServers(t *testing.T) {
	d := newServersDashboard(t)
	if got := d.p.View().WindowTitle; got != "(2) agentctl" {
		t.Errorf("title %q", got)
	}
}

func TestTheNextPendingSessionIsOfAServerThatIsConnected(t *testing.T) {
	for _, c := range []struct {
		box  remote.ConnState
		want []string // sessions whose requests F8 shows, then F8 again
	}{
		{remote.Connected, []string{"box/s1", "s1"}},
		{remote.Reconnecting, []string{"s1", ""}},
	} {
		d := newServersDashboard(t)
		d.boxConn(c.box)
		for i, want := range c.want {
			d.press("f8")
			got := ""
			if d.p.dashboard.Scope() == keymap.Approval {
				got = d.p.dashboard.Selected()
			}
			if got != want {
				t.Errorf("%s, press %d shows %q, want %q", c.box, i+1, got, want)
			}
		}
	}
}

func TestASessionOfAnotherServerIsLeftWithItsServer(t *testing.T) {
	d := newServersDashboard(t)
	for id, want := range map[string]string{"box/s1": "box", "s1": ""} {
		d.p.open(id)
		if got := d.p.left(); got.Server != want {
			t.Errorf("%s is left on %q, want %q", id, got.Server, want)
		}
	}
}

package dashboard

import (
	"fmt"
	"strings"
	"testing"

	"agentctl/internal/dev/thorough"
	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// TestDashboardAllowsNothingUnseen presses every key that allows in the approval dialog, on hostile
// requests, before and after the request was on the screen.
func TestDashboardAllowsNothingUnseen(t *testing.T) {
	ways := [][]string{{"y"}, {"1", "enter"}, {"home", "enter"}, {"a", "y"}}
	checkDashboardRequests(t, tuitest.HostileRequests(), ways)
}

func TestDashboardAllowsNothingOfAnyRequestUnseen(t *testing.T) {
	checkDashboardRequests(t, tuitest.RequestCases(), [][]string{{"y"}, {"1", "enter"}})
}

func checkDashboardRequests(t *testing.T, requests []tuitest.HostileRequest, ways [][]string) {
	for _, r := range thorough.Sample(requests, 20) { // the tests of tui/approval have all
		for _, size := range thorough.Sample([][2]int{{40, 20}, {80, 24}, {200, 60}}, 2) {
			for _, keys := range thorough.Sample(ways, 2) {
				name := fmt.Sprintf("%s/%dx%d/%s", r.Name, size[0], size[1], strings.Join(keys, " "))
				t.Run(name, func(t *testing.T) {
					checkDashboardUnseen(t, &r, size, keys)
				})
			}
		}
	}
}

func checkDashboardUnseen(t *testing.T, r *tuitest.HostileRequest, size [2]int, keys []string) {
	d := newTestDashboard(t, size[0], size[1], tuitest.Summaries()...)
	var w tuitest.Witness
	allowed := func() bool {
		for _, data := range d.decisions() {
			if r.Allows(&data) {
				return true
			}
		}
		return false
	}
	screen := func() string { return tuitest.ScreenText(d.d.View()) }
	press := func(keys ...string) {
		t.Helper()
		for _, key := range keys {
			d.press(key)
			d.waitGrace()
			if allowed() {
				if missing := r.Missing(&w); len(missing) > 0 {
					t.Fatalf("%s allows before %q was on the screen, now:\n%s", key, missing, screen())
				}
			}
			w.Look(screen())
		}
	}
	d.openApproval(r.Approval)
	w.Look(screen())
	for range 4 {
		if press(keys...); allowed() {
			return
		}
		for d.reading() { // the request is read
			before := screen()
			if press("pgdown"); screen() == before {
				press("esc")
			}
		}
		if r.Approval.Options[1].Kind != protocol.AllowAlways && keys[0] == "a" {
			return // there is no such option
		}
	}
	t.Fatalf("a request that was read cannot be allowed, missing %q:\n%s", r.Missing(&w), screen())
}

// reading reports whether the whole request is on the screen.
func (d *testDashboard) reading() bool {
	_, reads := d.d.overlays.Top().(*requestOverlay)
	return reads
}

package dashboard

import (
	"fmt"
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/approval"
)

// twelveFiles is a request to change twelve files.
func twelveFiles() protocol.Approval {
	a := tuitest.CommandApproval()
	a.Kind, a.Command = protocol.ApprovePatch, ""
	for i := range 12 {
		name := fmt.Sprintf("part%d.go", i)
		a.Patch += fmt.Sprintf("--- a/%s\n+++ b/%s\n@@ -1,2 +1,3 @@\n-a\n-b\n+c\n+d\n+e\n", name, name)
	}
	return a
}

func TestDashboardReviewsAPatch(t *testing.T) {
	d := newTestDashboard(t, 80, 24, tuitest.Summaries()...)
	d.openApproval(twelveFiles())
	d.want("patch, 12 files +36 −24", "part0.go +3 −2", "v reviews all")
	d.press("v", "y")
	d.want("not decided: the request is new")
	d.waitGrace()
	d.press("J", "m")
	d.typeText("keep y")
	d.press("enter")
	d.want("1 comment sent with it")
	if got := d.decisions(); len(got) != 0 {
		t.Fatalf("got decisions %+v, want none before a key that decides", got)
	}
	d.press("n")
	got := d.decisions()
	if len(got) != 1 || got[0].Option != "no" || got[0].Reason != "part0.go:1 (removed): keep y" {
		t.Errorf("got decisions %+v, want a denial with the comment", got)
	}
}

// Keys in the review restart the pause of the dialog.
func TestDashboardReviewTakesNoKeyOfAFastSeries(t *testing.T) {
	d := newTestDashboard(t, 80, 24, tuitest.Summaries()...)
	d.openApproval(twelveFiles())
	d.press("v")
	for _, key := range []string{"J", "J", "n"} {
		now = now.Add(approval.Grace * 2 / 3)
		d.fireTimers()
		d.press(key)
	}
	if got := d.decisions(); len(got) != 0 {
		t.Errorf("got decisions %+v, want none", got)
	}
	d.waitGrace()
	d.press("n")
	if got := d.decisions(); len(got) != 1 {
		t.Errorf("got %d decisions, want 1", len(got))
	}
}

func TestDashboardClosesTheReviewOfADecidedRequest(t *testing.T) {
	d := newTestDashboard(t, 80, 24, tuitest.Summaries()...)
	d.openApproval(twelveFiles())
	d.press("v")
	d.want("12 files +36 −24")
	s := tuitest.Summaries()[0]
	for _, other := range tuitest.Summaries() {
		if other.Session == "s3" {
			s = other
		}
	}
	s.Status, s.Approvals, s.Asked = protocol.Running, 0, nil
	d.put(s)
	d.press("y")
	if got := d.decisions(); len(got) != 0 {
		t.Errorf("got decisions %+v, want none", got)
	}
	d.wantNo("not read")
}

func TestDashboardReviewSearchTakesTheKeysOfMatches(t *testing.T) {
	d := newTestDashboard(t, 80, 24, tuitest.Summaries()...)
	d.openApproval(twelveFiles())
	d.press("v")
	d.waitGrace()
	d.press("/")
	d.typeText("part1 y")
	d.press("enter")
	d.want("no match for “part1 y”")
	d.press("/", "backspace", "backspace", "enter")
	d.want("> next", "close search")
	d.press(">")
	if got := d.decisions(); len(got) != 0 {
		t.Fatalf("got decisions %+v while there is a search, want none", got)
	}
	d.waitGrace()
	d.press("esc", "n")
	if got := d.decisions(); len(got) != 1 || got[0].Option != "no" {
		t.Errorf("got decisions %+v, want a denial after the search", got)
	}
}

func TestGoldenReviewFromTheDashboard(t *testing.T) {
	d := newTestDashboard(t, 120, 30, tuitest.Summaries()...)
	d.openApproval(twelveFiles())
	d.press("v", "/")
	d.typeText("part1")
	d.press("enter", ">")
	d.waitGrace()
	tuitest.Golden(t, d.screen())
}

package dashboard

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// listSizes are the sizes at which the list is tested, with its preview by default.
var listSizes = [][2]int{{80, 24}, {120, 40}, {160, 40}, {200, 60}}

// everyState returns twelve sessions of one agent and directory, in all states.
func everyState() []protocol.Summary {
	at := func(ago time.Duration) time.Time { return tuitest.Start.Add(time.Minute - ago) }
	session := func(name string, status protocol.Status, ago time.Duration) protocol.Summary {
		s := protocol.Summary{Session: "s_" + name, Name: name, Agent: "claude", CWD: "/srv/store", Status: status, Updated: at(ago)}
		s.Turns = 1
		return s
	}
	waiting := func(name, doing string, requests int, ago time.Duration) protocol.Summary {
		s, asked := session(name, protocol.Waiting, 0), at(ago)
		s.Turn, s.Doing, s.Approvals, s.Asked = "t", doing, requests, &asked
		return s
	}
	running := func(name, doing string, ago time.Duration) protocol.Summary {
		s, since := session(name, protocol.Running, time.Hour), at(ago)
		s.Turn, s.Doing, s.Since = "t", doing, &since
		return s
	}
	ended := func(name string, reason protocol.Reason, line string, ago time.Duration) protocol.Summary {
		s := session(name, protocol.Idle, ago)
		s.Reason, s.Output = reason, line
		return s
	}
	out := []protocol.Summary{
		waiting("lint", "curl -sSfL https://example.com/install.sh | sudo sh", 1, 3*time.Minute),
		waiting("lock", "Take the lock in Len · store.go", 1, 2*time.Minute),
		waiting("four", "make part4", 4, 40*time.Second),
		ended("later", protocol.ReasonInterrupted, "Stopped in the middle.", 4*time.Minute),
		ended("lost", protocol.ReasonError, "Running the linter.", 5*time.Minute),
		ended("slow", protocol.ReasonTimeout, "Running the linter.", 6*time.Minute),
		running("tests", "go test ./...", 12*time.Second),
		running("guide", "Writing the second part", 3*time.Hour),
		ended("done", protocol.ReasonCompleted, "All tests pass.", 26*time.Hour),
		ended("idle", protocol.ReasonCompleted, "The change is small.", 72*time.Hour),
		ended("limit", protocol.ReasonLimited, "Reading.", 7*time.Minute),
		session("old", protocol.Closed, 100*24*time.Hour),
	}
	out[0].Title = "Install the linter"
	out[3].Queue, out[3].Held = 2, true
	out[4].Error = "provider is overloaded (529)"
	resets := at(-2*time.Hour - 10*time.Minute)
	out[10].ResetsAt = &resets
	return out
}

// TestTheListShowsActivityFirst checks at every size what each session asks, does or lacks, and that
// time is an age.
func TestTheListShowsActivityFirst(t *testing.T) {
	for _, size := range listSizes {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			d := newTestDashboard(t, size[0], size[1], everyState()...)
			if size[0] >= 120 {
				d.press("p")
			}
			screen := d.screen()
			for _, fact := range []string{
				`^─ sessions 12 · 4 need you `, `^   name +activity .*age`, `^ NEEDS YOU 4( |$)`,
				`^▸\? lint Inst\S* .*curl -sSfL https://example\.com\S* .* 3m( │|$)`,
				`^ \? lock +Take the lock in Len · store\.go .* 2m( │|$)`,
				`^ \? four +4 approvals · make part4 .* 40s( │|$)`,
				`^ ‖ later +held · Stopped in the middle\. .* 4m( │|$)`,
				`^ ✗ lost +provider is overloaded \(529\) .* 5m( │|$)`,
				`^ ✗ slow +timeout · Running the linter\. .* 6m( │|$)`,
				`^ ▸ tests +go test \./\.\.\. .* 12s( │|$)`,
				`^ ▸ guide +Writing the second part .* 3h( │|$)`,
				`^ [•·] done +All tests pass\. .* 26h( │|$)`,
				`^ · idle +The change is small\. .* 3d( │|$)`,
				`^ ‖ limit +limited, 2h left · Reading\. .* 7m( │|$)`,
			} {
				if !regexp.MustCompile(`(?m)` + fact).MatchString(screen) {
					t.Errorf("no row matches %s", fact)
				}
			}
			list := screen[:strings.LastIndex(screen, "claude")] // of the line below the list
			for _, absent := range []string{"claude", "/srv/store", "directory"} {
				if strings.Contains(list, absent) {
					t.Errorf("%q is in the list", absent)
				}
			}
			if t.Failed() {
				t.Logf("the screen is\n%s", screen)
			}
		})
	}
}

// A column is shown if its cells differ and the activity keeps its room.
func TestColumnsWithEqualCellsAreLeftOut(t *testing.T) {
	sessions := everyState()
	for i, c := range []struct {
		width int
		shown bool
	}{{80, false}, {110, true}, {200, true}} {
		d := newTestDashboard(t, c.width, 24, sessions...)
		d.wantNo("agent")
		other := sessions[6]
		other.Agent = "codex"
		d.put(other)
		if got := strings.Contains(d.screen(), "  agent "); got != c.shown {
			t.Errorf("%d: agents at %d columns: %v, want %v:\n%s", i, c.width, got, c.shown, d.screen())
		}
		d.want("curl -sSfL https://example.com")
	}
}

package approval

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"agentctl/internal/dev/thorough"
	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// screenSizes are a telephone, a terminal and a large window.
var screenSizes = [][2]int{{40, 20}, {80, 24}, {200, 60}}

// allowingKeys are all ways to allow a request.
var allowingKeys = [][]string{
	{"y"}, {"1", "enter"}, {"alt+1", "enter"}, {"up", "enter"}, {"a", "y"}, {"2", "enter", "y"},
}

// TestNothingIsAllowedUnseen presses every key that allows, on hostile requests, before and after
// the request was on the screen.
func TestNothingIsAllowedUnseen(t *testing.T) {
	requests := tuitest.HostileRequests()
	if len(requests) < 40 {
		t.Fatalf("got %d requests, want at least 40", len(requests))
	}
	checkUnseenRequests(t, requests, allowingKeys)
}

func TestNothingOfAnyRequestIsAllowedUnseen(t *testing.T) {
	checkUnseenRequests(t, tuitest.RequestCases(), [][]string{{"y"}, {"1", "enter"}})
}

func checkUnseenRequests(t *testing.T, requests []tuitest.HostileRequest, ways [][]string) {
	for _, r := range requests {
		for _, size := range thorough.Sample(screenSizes, 2) {
			for _, keys := range thorough.Sample(ways, 2) {
				name := fmt.Sprintf("%s/%dx%d/%s", r.Name, size[0], size[1], strings.Join(keys, " "))
				t.Run(name, func(t *testing.T) {
					checkUnseen(t, &r, size, keys)
				})
			}
		}
	}
}

func checkUnseen(t *testing.T, r *tuitest.HostileRequest, size [2]int, keys []string) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "go")
	j.Add(protocol.ApprovalRequested, r.Approval)
	j.CaughtUp()
	s := open(t, j, size[0], size[1])
	var w tuitest.Witness
	s.waitGrace()
	w.Look(s.text())
	s.focus()
	w.Look(s.text())
	allowed := func() bool {
		return slices.ContainsFunc(s.sent, func(d protocol.ApproveData) bool { return r.Allows(&d) })
	}
	press := func(keys ...string) {
		t.Helper()
		for _, key := range keys {
			s.press(key)
			s.waitGrace()
			if allowed() {
				if missing := r.Missing(&w); len(missing) > 0 {
					t.Fatalf("%s allows before %q was on the screen, now:\n%s", key, missing, s.text())
				}
			}
			w.Look(s.text())
		}
	}
	for range 4 {
		if press(keys...); allowed() {
			break
		}
		for s.overlays.Top() != nil {
			before := s.text()
			if press("pgdown"); s.text() == before {
				press("esc")
			}
		}
		press("esc")
		s.focus()
		if r.Approval.Options[1].Kind != protocol.AllowAlways && len(keys) > 1 {
			return // the keys choose no option that allows
		}
	}
	if !allowed() {
		t.Fatalf("a request that was read cannot be allowed, missing %q:\n%s", r.Missing(&w), s.text())
	}
}

func TestAllowingOpensTheUnseenRestFirst(t *testing.T) {
	for _, keys := range [][]string{{"y"}, {"1", "enter"}, {"a"}, {"2", "enter"}} {
		s := openCut(t)
		s.press(keys...)
		s.mustNotDecide()
		s.mustShow("not decided: view it to its end first", "38 lines not read")
	}
	s := openCut(t)
	s.press("n") // a denial needs no reading
	s.mustDecide()
}

func TestAChangeOfSizeKeepsWhatWasSeen(t *testing.T) {
	s := openCut(t)
	s.press("v", "pgdown")
	s.waitGrace()
	s.resize(60, 24) // another layout: what was seen is not known any more
	s.press("esc", "y")
	s.mustNotDecide()
	s.press("pgdown", "pgdown", "pgdown", "pgdown")
	s.mustShow("all read")
	s.press("esc")
	s.resize(100, 24) // all was seen
	s.waitGrace()
	s.press("y")
	s.mustDecide()
}

// openCut opens a session that asks to run a command longer than the screen, with the focus on the
// request.
func openCut(t *testing.T) *testPanel {
	t.Helper()
	s := open(t, tuitest.CutCommand(), 80, 24)
	s.focus()
	return s
}

// longPlan is a plan of 80 tasks.
func longPlan() protocol.Approval {
	plan := protocol.Approval{Request: "r1", Kind: protocol.ApprovePlan, Title: "Plan"}
	for i := range 80 {
		plan.Tasks = append(plan.Tasks, protocol.Task{ID: fmt.Sprint("t", i), Title: fmt.Sprint("Task number ", i)})
	}
	return plan
}

// Rows of a form that the panel has no room for do not count as seen: here the tasks of a long plan.
func TestRowsOfTheFormThatAreLeftOutAreNotSeen(t *testing.T) {
	s := openApproval(t, longPlan())
	s.focus()
	s.mustShow("Task number 0", "below")
	s.mustHide("Task number 79")
	s.press("y")
	s.mustNotDecide()
	s.mustShow("not decided: view it to its end first")
	s.press("esc")
	for range longPlan().Tasks {
		s.press("down")
	}
	s.waitGrace()
	s.press("y")
	s.mustDecide()
}

// The same in the form below a review.
func TestRowsOfTheFormOfAReviewThatAreLeftOutAreNotSeen(t *testing.T) {
	plan := longPlan()
	plan.Content = []protocol.Content{{Type: "diff", Path: "a.go", New: "two\n"}}
	s := openApproval(t, plan)
	s.focus()
	s.press("v", "tab", "g", "tab", "G")
	s.mustShow("lines not read")
	s.waitGrace()
	s.press("y")
	s.mustNotDecide()
	s.mustShow("not decided: this was not on the screen")
	s.read()
	s.press("y")
	s.mustDecide()
}

package approval

import (
	"testing"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestApprovalGrace(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 24)
	s.takeFocus()
	s.mustShow("a moment …")
	s.press("y", "1", "enter")
	s.mustNotDecide()
	s.mustShow("the request is new")
	s.now = s.now.Add(Grace / 2)
	s.press("y") // restarts the grace period
	s.now = s.now.Add(Grace * 3 / 4)
	s.fireGuard()
	s.press("y")
	s.mustNotDecide()
	s.waitGrace()
	s.press("y")
	if data := s.mustDecide(); data.Request != "r1" || data.Option != "once" {
		t.Errorf("got decision %+v", data)
	}
}

func TestApprovalGraceIgnoresEvents(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 24)
	s.takeFocus()
	for range 4 { // the turn continues
		s.now = s.now.Add(Grace / 3)
		s.journal.Add(protocol.TextDelta, protocol.PartDeltaData{Part: "t3", Text: " more"})
		s.applyJournal()
	}
	s.fireGuard()
	s.press("y")
	s.mustDecide()
}

func TestApprovalTakesNoFirstKey(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 24)
	s.focus()
	s.press("n")
	s.mustDecide()
	s.journal.AddBy(tuitest.Ada, protocol.ApprovalResolved, protocol.ApprovalResolvedData{
		Request: "r1", Outcome: protocol.Denied, Decision: protocol.Deny,
	})
	s.applyJournal()
	s.mustShow("Fetch a page")
	s.waitGrace() // the next request is old enough, but the key may be meant for the former
	s.press("y")
	s.mustNotDecide()
	s.press("y")
	if data := s.mustDecide(); data.Request != "r2" {
		t.Errorf("got decision %+v, want one on r2", data)
	}
}

func TestApprovalOtherRequestIsNew(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 24)
	s.focus()
	s.press("right", "y", "y")
	s.mustNotDecide()
	s.waitGrace()
	s.press("y")
	if data := s.mustDecide(); data.Request != "r2" {
		t.Errorf("got decision %+v, want one on r2", data)
	}
}

func TestApprovalTooSmallWindow(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 60, 24)
	s.focus()
	s.press("3")
	s.resize(60, 4)
	s.press("enter")
	s.mustNotDecide()
	s.resize(60, 9)
	s.mustShow("▸ 3 Deny")
	s.press("enter")
	if data := s.mustDecide(); data.Option != "no" {
		t.Errorf("got decision %+v", data)
	}
}

func TestTheGuardIsArmedAfterTheGrace(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	var g Guard
	g.Reset(now)
	g.Touch(now.Add(Grace / 2)) // a key restarts the grace period
	for _, at := range []time.Duration{0, Grace, Grace*3/2 - 1} {
		if g.Arm(now.Add(at)) || g.Armed() {
			t.Fatalf("armed after %v", at)
		}
	}
	if !g.Arm(now.Add(Grace * 3 / 2)) {
		t.Error("not armed after a grace period without a key")
	}
	if g.Touch(now.Add(2 * Grace)); !g.Ready() {
		t.Error("the second key is not ready after the grace period")
	}
	if g.Rearm(now.Add(2 * Grace)); g.Ready() || g.Deadline() != now.Add(3*Grace) {
		t.Errorf("ready %v after Rearm, deadline %v", g.Ready(), g.Deadline())
	}
}

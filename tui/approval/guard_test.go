package approval

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/ui"
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

// A request that takes the place of another one takes no first key, unless the user decided the former.
func TestApprovalTakesNoFirstKey(t *testing.T) {
	for name, c := range map[string]struct {
		decide bool // the user decides the former
		end    protocol.ApprovalResolvedData
	}{
		"decided elsewhere": {false, protocol.ApprovalResolvedData{Outcome: protocol.Denied, Decision: protocol.Deny}},
		"expired":           {false, protocol.ApprovalResolvedData{Outcome: protocol.Expired}},
		"withdrawn":         {false, protocol.ApprovalResolvedData{Outcome: protocol.Cancelled}},
		"decided here":      {true, protocol.ApprovalResolvedData{Outcome: protocol.Denied, Decision: protocol.Deny}},
	} {
		s := open(t, tuitest.Scenes["approval"](), 80, 24)
		s.focus()
		if c.decide {
			s.press("n")
			s.mustDecide()
		}
		c.end.Request = "r1"
		s.journal.AddBy(tuitest.Ada, protocol.ApprovalResolved, c.end)
		s.applyJournal()
		s.mustShow("Fetch a page")
		s.press("y") // meant for the former
		s.mustNotDecide()
		s.waitGrace() // the next request is old enough, but the key may be meant for the former
		s.press("y")
		if !c.decide {
			s.mustNotDecide()
			s.mustShow("this is another request now")
			s.press("y")
		}
		if data := s.mustDecide(); data.Request != "r2" {
			t.Errorf("%s: got decision %+v, want one on r2", name, data)
		}
	}
}

func TestKeysInQuickSuccessionDecideNothing(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 24)
	s.focus()
	s.press("down")
	s.now = s.now.Add(-1) // less than the pause after the key before
	s.press("y")
	s.mustNotDecide()
	s.mustShow("the keys came too fast")
	s.press("y")
	s.mustDecide()
}

// The first key of a text that is typed into a request at rest decides nothing, in the panel and in the
// view of the whole request.
func TestTheFirstKeyOfATextDecidesNothing(t *testing.T) {
	for _, view := range [][]string{nil, {"v"}} {
		for _, text := range []string{"yx", "ny", "yq", "  y", "yes", "now what", "an"} {
			s := open(t, tuitest.Scenes["approval"](), 80, 24)
			s.focus()
			s.press(view...)
			s.waitGrace()
			s.fast = true
			for _, r := range text {
				s.typeText(string(r))
				s.now = s.now.Add(typingPause - 1)
				s.fireGuard()
			}
			s.waitGrace()
			s.mustNotDecide()
		}
	}
}

// A key decides only what was on the screen when it came, and the user is told when it does not.
func TestAChangeWithinThePauseCancelsTheDecision(t *testing.T) {
	resolved := protocol.ApprovalResolvedData{Outcome: protocol.Denied, Decision: protocol.Deny}
	explained := protocol.ApprovalExplainedData{Request: "r1", Text: "it is needed"}
	for name, c := range map[string]struct {
		happens func(*testPanel)
		status  string
	}{
		"a key":   {func(s *testPanel) { s.press("down") }, tooQuick},
		"a click": {func(s *testPanel) { s.click("3 Deny") }, tooQuick},
		"resolved elsewhere": {func(s *testPanel) {
			resolved.Request = "r1"
			s.journal.AddBy(tuitest.Ada, protocol.ApprovalResolved, resolved)
		}, replaced},
		"all resolved elsewhere": {func(s *testPanel) {
			for _, r := range s.state.Approvals {
				resolved.Request = r.Request
				s.journal.AddBy(tuitest.Ada, protocol.ApprovalResolved, resolved)
			}
		}, gone},
		"explained":       {func(s *testPanel) { s.journal.Add(protocol.ApprovalExplained, explained) }, altered},
		"focus elsewhere": {func(s *testPanel) { s.panel.LoseFocus() }, left},
		"another request": {func(s *testPanel) {
			s.journal.Add(protocol.ApprovalRequested, protocol.Approval{Request: "r9", Kind: protocol.ApproveCommand, Command: "id"})
		}, ""},
	} {
		s := open(t, tuitest.Scenes["approval"](), 100, 30)
		s.focus()
		s.fast = true
		s.press("y")
		s.now = s.now.Add(typingPause / 2)
		s.fireGuard()
		s.mustNotDecide()
		c.happens(s)
		s.applyJournal()
		s.fireGuard()
		if s.status != c.status {
			t.Errorf("%s: the status is %q, want %q", name, s.status, c.status)
		}
		s.now = s.now.Add(typingPause)
		s.fireGuard()
		if want := c.status == ""; (len(s.sent) > 0) != want {
			t.Errorf("%s: got decisions %+v, want one: %v", name, s.sent, want)
		}
	}
}

// A text that is added to a request is a change: the lines below it have moved.
func TestAnExplanationBlocksTheDecision(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 24)
	s.focus()
	s.journal.Add(protocol.ApprovalExplained, protocol.ApprovalExplainedData{Request: "r1", Text: "it is needed"})
	s.applyJournal()
	s.press("n")
	s.mustNotDecide()
	s.waitGrace()
	s.press("n")
	s.mustDecide()
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
	if g.Arm(now) || !g.Deadline().IsZero() {
		t.Error("armed without a request")
	}
	g.Change(now)
	if g.Arm(now.Add(Grace)) || !g.Deadline().IsZero() {
		t.Error("armed without a drawing")
	}
	g.Drawn(now)
	g.Touch(now.Add(Grace / 2)) // a key restarts the grace period
	for _, at := range []time.Duration{0, Grace, Grace*3/2 - 1} {
		if g.Arm(now.Add(at)) || g.armed {
			t.Fatalf("armed after %v", at)
		}
	}
	if !g.Arm(now.Add(Grace * 3 / 2)) {
		t.Error("not armed after a grace period without a key")
	}
	if g.Touch(now.Add(2 * Grace)); g.Refusal() != "" {
		t.Errorf("the first key after the grace period is refused: %s", g.Refusal())
	}
	if g.Change(now.Add(2 * Grace)); g.Refusal() != tooSoon || g.Deadline() != now.Add(3*Grace) {
		t.Errorf("after a change: refusal %q, deadline %v", g.Refusal(), g.Deadline())
	}
}

// guardModel says from all that happened whether a key decides, and when.
type guardModel struct {
	shown     time.Time   // first drawing with the focus since the last change; zero: none
	keys      []time.Time // since then
	last      time.Time   // key, at any time
	replaced  bool        // by another request without a key of the user
	decides   time.Time   // the last key decides then, unless something happens before; zero: it does not
	cancelled bool        // something happened, and the user was not told
}

// cancel records that something happened that keeps the last key from deciding.
func (m *guardModel) cancel() (cancelled bool) {
	cancelled = !m.decides.IsZero()
	m.decides, m.cancelled = time.Time{}, m.cancelled || cancelled
	return cancelled
}

func (m *guardModel) change() {
	m.cancel()
	m.shown, m.keys = time.Time{}, nil
}

// key returns whether the key at a time may decide.
func (m *guardModel) key(now time.Time) bool {
	quick := m.cancel() || now.Sub(m.last) < 150*time.Millisecond
	m.last = now
	if m.shown.IsZero() {
		return false
	}
	m.keys = append(m.keys, now)
	before, rested := m.shown, false
	for _, at := range m.keys {
		rested = rested || at.Sub(before) >= 600*time.Millisecond
		before = at
	}
	if !rested || quick {
		return false
	}
	confirms := m.replaced
	m.replaced = false
	return !confirms
}

// TestTheGuardFollowsItsRule compares the panel with the rule in words of guardModel, over random
// keys, changes, drawings and times.
func TestTheGuardFollowsItsRule(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		now := tuitest.Start
		styles := ui.NewStyles(time.UTC, "")
		styles.Now = func() time.Time { return now }
		panel := NewPanel(styles, "")
		var model guardModel
		var pending []protocol.Approval
		next, focused, covered := 0, false, false
		draw := func() {
			if covered {
				return
			}
			panel.View(80, 20, focused)
			if focused && len(pending) > 0 && model.shown.IsZero() {
				model.shown = now
			}
		}
		update := func() { panel.SetPending(pending, "/work", true) }
		add := func() {
			next++
			if pending = append(pending, protocol.Approval{
				Request: fmt.Sprint("r", next), Kind: protocol.ApproveCommand, Command: "make", Asked: now,
			}); len(pending) == 1 {
				model.change()
			}
			update()
		}
		remove := func(own bool) {
			pending = slices.Delete(pending, 0, 1) // in place, as in the state of a session
			model.change()
			model.replaced = model.replaced || !own
			update()
		}
		wait := func(d time.Duration) {
			for end := now.Add(d); ; {
				at := panel.Deadline()
				if at.IsZero() || at.After(end) {
					now = end
					return
				}
				now = at
				decides := !model.decides.IsZero() && !now.Before(model.decides)
				got, _ := panel.Due()
				if decided := got.Decide != nil; decided != decides {
					rt.Fatalf("the key decides: %v, want %v", decided, decides)
				}
				if told := got.Status != ""; told != model.cancelled {
					rt.Fatalf("the status is %q, a decision was cancelled: %v", got.Status, model.cancelled)
				}
				if model.cancelled = false; decides {
					model.decides = time.Time{}
					panel.Decided(got.Decide.Request, "")
					remove(true)
				}
				draw()
			}
		}
		press := func(key string) {
			panel.Touch()
			may := model.key(now)
			if !focused || covered {
				return
			}
			got := panel.Press(tuitest.KeyPress(key))
			if got.Leave {
				focused = false
			}
			if got.Decide != nil {
				rt.Fatal("the key decides before another one can come")
			}
			if key != "n" || len(pending) == 0 {
				return
			}
			if refused := got.Status != ""; refused == may {
				rt.Fatalf("the key may decide: %v, the status is %q", may, got.Status)
			}
			if may {
				model.decides = now.Add(150 * time.Millisecond)
			}
		}
		pauses := []time.Duration{0, 1, 50, 149, 150, 151, 300, 599, 600, 601, 749, 750, 1200, 5000}
		focus := func() {
			if len(pending) > 0 && !focused {
				panel.Touch()
				model.key(now)
				panel.TakeFocus()
				model.change()
				focused, model.replaced = true, false
			}
		}
		steps := []func(){
			add, focus,
			func() { covered = false },
			func() { covered = true },
			func() {
				if len(pending) > 0 {
					remove(false)
				}
			},
			func() {
				if len(pending) > 0 && panel.requests.forms[pending[0].Request].card.key.known {
					pending[0].Explained = append(pending[0].Explained, "because")
					model.change()
					update()
				}
			},
			func() {
				if len(pending) == 1 { // there is no next one
					press("]")
				}
			},
			func() { press("esc") },
			func() {
				panel.LoseFocus()
				model.cancel()
				focused = false
				wait(150 * time.Millisecond)
			},
		}
		for range 150 {
			switch step := rapid.IntRange(0, 30).Draw(rt, "step"); {
			case step < len(steps):
				steps[step]()
			case step < 13:
				press("down")
			case step < 20:
				press("n")
			default:
				wait(rapid.SampledFrom(pauses).Draw(rt, "pause") * time.Millisecond)
			}
			if len(pending) == 0 || !focused {
				add()
				focus()
			}
			draw()
			wait(0)
		}
	})
}

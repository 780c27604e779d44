package sessionview

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// A key decides when no other key came for a while. Whatever comes before that cancels its decision,
// and the screen says so.
func TestTheDecisionOfAKeyIsHeld(t *testing.T) {
	const pause = 150 * time.Millisecond
	key := func(name string) func(*testScreen) {
		return func(s *testScreen) { s.update(tuitest.KeyPress(name)) }
	}
	const tooFast, elsewhere = "the keys came too fast", "the keys went elsewhere"
	for name, c := range map[string]struct {
		happens func(*testScreen)
		want    string // on the screen; "" if the key decides
	}{
		"nothing":       {func(*testScreen) {}, ""},
		"a letter":      {key("x"), tooFast},
		"another place": {key("tab"), tooFast},
		"help":          {key("f1"), tooFast},
		"palette":       {key("ctrl+k"), tooFast},
		"ctrl+c":        {key("ctrl+c"), "ctrl+c again leaves"},
		"hidden":        {func(s *testScreen) { s.m.SetHidden(true) }, elsewhere},
		"another pane":  {func(s *testScreen) { s.m.SetElsewhere(true) }, elsewhere},
		"composer":      {func(s *testScreen) { s.m.setFocus(onComposer) }, elsewhere},
		"wheel":         {func(s *testScreen) { s.update(tea.MouseWheelMsg{Button: tea.MouseWheelUp}) }, ""},
		"text of the agent": {func(s *testScreen) {
			s.journal.Add(protocol.TextDelta, protocol.PartDeltaData{Part: "t3", Text: " more"})
			s.applyJournal()
		}, ""},
		"decided by bob": {func(s *testScreen) {
			s.journal.AddBy(tuitest.Bob, protocol.ApprovalResolved, protocol.ApprovalResolvedData{
				Request: "r1", Outcome: protocol.Denied, Decision: protocol.Deny,
			})
			s.applyJournal()
		}, "this is another request now"},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, tuitest.Scenes["approval"](), 160, 40)
			s.focusApproval()
			s.tick()
			s.update(tuitest.KeyPress("y"))
			s.mustSendNothing()
			s.now = s.now.Add(pause - 1)
			c.happens(s)
			s.tick()
			s.m.overlays.Remove(s.m.overlays.Top())
			s.m.canvas.Dirty = true
			if c.want != "" {
				s.mustShow(c.want)
			}
			s.now = s.now.Add(1)
			s.tick()
			if c.want != "" {
				s.mustSendNothing()
				return
			}
			s.mustSend(protocol.DoApprove)
		})
	}
}

// The view of the whole request stays open when a second key cancels a decision. A decision closes it.
func TestTheViewOfARequestHoldsADecision(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 100, 30)
	s.focusApproval()
	s.press("v")
	s.waitGrace()
	for _, key := range []string{"y", "down"} {
		s.update(tuitest.KeyPress(key))
	}
	s.tick()
	s.mustShow("all read", "the keys came too fast")
	s.waitGrace()
	s.mustSendNothing()
	s.press("y")
	s.mustSend(protocol.DoApprove)
	if s.m.overlays.Top() != nil {
		t.Errorf("the view stays open:\n%s", s.text())
	}
}

package sessionview

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/tuitest"
	"agentctl/protocol"
)

// click clicks on a line below the first one with a text.
func (s *testScreen) click(text string, below int) {
	s.t.Helper()
	for y, line := range strings.Split(s.text(), "\n") {
		if strings.Contains(line, text) {
			s.update(tea.MouseClickMsg{X: 5, Y: y + below, Button: tea.MouseLeft})
			return
		}
	}
	s.t.Fatalf("the screen does not show %q:\n%s", text, s.text())
}

func TestAClickFocusesAPartAndSelectsAQueuedMessage(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 100, 30)
	s.click("queue · ", 2)
	if s.m.focus != onQueue || s.m.panels.queue.selectedIndex() != 1 {
		t.Fatalf("got focus %d, message %d", s.m.focus, s.m.panels.queue.selectedIndex())
	}
	s.mustSendNothing()
	s.press("K")
	want := s.m.replica.state.Queue[1].MessageID
	if d := s.mustSend(protocol.DoQueueMove).(protocol.QueueMoveData); d.MessageID != want {
		t.Errorf("moved %s, want %s", d.MessageID, want)
	}
	s.click(strings.Repeat("─", 40), 1)
	if s.m.focus != onComposer {
		t.Errorf("got focus %d after a click on the composer:\n%s", s.m.focus, s.text())
	}
}

// TestAWheelThatSendsArrowsScrolls covers a terminal in alternate scroll mode: a step of the wheel
// is several arrow keys at once.
func TestAWheelThatSendsArrowsScrolls(t *testing.T) {
	for _, draft := range []string{"", "one row"} {
		s := open(t, tuitest.Scenes["transcript"](), 80, 24)
		s.sendMessage("earlier")
		s.typeText(draft)
		s.press("left")
		cursor := s.m.composer.Cursor()
		list := s.m.transcript.view.List
		above, _ := list.Position()
		s.press("up")
		for range 2 { // within keyInterval
			s.update(tuitest.KeyPress("up"))
		}
		if now, _ := list.Position(); now != above-3 {
			t.Errorf("draft %q: scrolled from line %d to %d, want 3 lines up", draft, above, now)
		}
		s.mustCompose(draft)
		if got := s.m.composer.Cursor(); got != cursor {
			t.Errorf("draft %q: the cursor moved from %d to %d", draft, cursor, got)
		}
	}
}

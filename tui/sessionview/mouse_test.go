package sessionview

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

// click clicks on a line below the first one with a text.
func (s *testScreen) click(text string, below int) {
	s.t.Helper()
	s.m.Styles.Keys.SetClickable(true)
	s.m.screen.Canvas.Dirty = true
	var screen ui.Clickable
	drawn := screen.Draw(s.m.View().Content)
	for y, line := range strings.Split(ansi.Strip(drawn), "\n") {
		if before, _, ok := strings.Cut(line, text); ok {
			at := tea.MouseClickMsg{X: ansi.StringWidth(before+text) - 1, Y: y + below, Button: tea.MouseLeft}
			for _, msg := range screen.Click(at) {
				s.update(msg)
			}
			return
		}
	}
	s.t.Fatalf("the screen does not show %q:\n%s", text, s.text())
}

func TestAClickFocusesAPartAndSelectsAQueuedMessage(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 100, 30)
	s.click("queue · ", 2)
	if s.m.focus != onQueue || s.m.panels.queue.Selected() != 1 {
		t.Fatalf("got focus %d, message %d", s.m.focus, s.m.panels.queue.Selected())
	}
	s.mustSendNothing()
	s.press("shift+up")
	want := s.m.replica.State.Queue[1].MessageID
	if d := s.mustSend(protocol.DoQueueMove).(protocol.QueueMoveData); d.MessageID != want {
		t.Errorf("moved %s, want %s", d.MessageID, want)
	}
	s.click(strings.Repeat("─", 40), 1)
	if s.m.focus != onComposer {
		t.Errorf("got focus %d after a click on the composer:\n%s", s.m.focus, s.text())
	}
}

// TestAWheelThatSendsArrowsScrolls covers a terminal in alternate scroll mode: a step of the wheel
// is several arrow keys in one message.
func TestAWheelThatSendsArrowsScrolls(t *testing.T) {
	for _, draft := range []string{"", "one row"} {
		s := open(t, tuitest.Scenes["transcript"](), 80, 24)
		s.typeText("earlier")
		s.press("enter")
		s.typeText(draft)
		s.press("left")
		cursor := s.m.input.Composer().Cursor()
		list := s.m.transcript.View.List
		above, _ := list.Position()
		s.press("up")
		for range 2 { // within keyInterval
			s.update(tuitest.KeyPress("up"))
		}
		if now, _ := list.Position(); now != above-3 {
			t.Errorf("draft %q: scrolled from line %d to %d, want 3 lines up", draft, above, now)
		}
		s.mustCompose(draft)
		if got := s.m.input.Composer().Cursor(); got != cursor {
			t.Errorf("draft %q: the cursor moved from %d to %d", draft, cursor, got)
		}
	}
}

func TestASecondClickConfirmsAChoice(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 100, 40)
	s.waitGrace()
	s.click("3 Deny", 0)
	s.mustShow("▸ 3 Deny")
	s.click("Allow once", 0)
	if s.m.focus != onApproval {
		t.Fatalf("got focus %d", s.m.focus)
	}
	s.mustSendNothing()
	s.mustShow("▸ 1 Allow once")
	s.waitGrace()
	s.click("1 Allow once", 0)
	if d := s.mustSend(protocol.DoApprove).(protocol.ApproveData); d.Option != "once" {
		t.Errorf("got %+v", d)
	}
}

func TestClicksInTheSideColumn(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 140, 40)
	*s.m.panels.side.Hidden = false
	s.update(tea.WindowSizeMsg{Width: 140, Height: 40})
	s.click("│ 2 ", 0)
	if s.m.focus != onQueue || s.m.panels.queue.Selected() != 1 {
		t.Errorf("got focus %d, message %d:\n%s", s.m.focus, s.m.panels.queue.Selected(), s.text())
	}
	s.click("│ queue", 0) // a title
	if s.m.focus != onQueue {
		t.Errorf("a click on nothing moves the focus to %d", s.m.focus)
	}
}

// Each hint of the last line is a button, and a name that looks like a hint of another action is not.
func TestAClickOnAHintOfTheLastLineActs(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 120, 30)
	s.m.Sessions = true
	s.m.Styles.Keys.SetClickable(true)
	s.m.SetOthers(s.m.Styles.Keys.Mark(keymap.NextPending, "2 others waiting: F8"))
	s.update(tea.WindowSizeMsg{Width: 120, Height: 30})
	s.click("ctrl+x interrupts", 0)
	s.mustSend(protocol.DoInterrupt)
	s.click("F1 help", 0)
	s.mustShow("esc back")
	s.press("esc")
	s.m.replica.State.Name = "alt+q clear"
	s.update(tea.WindowSizeMsg{Width: 119, Height: 30})
	s.click("alt+q clear", 0)
	s.mustSendNothing()
	s.click("others waiting", 0)
	s.mustShow("session list not available here") // the key, in a program without a dashboard
}

package approval

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/tui/ui"
)

// click clicks on the last cell of a text.
func (s *testPanel) click(text string) {
	s.t.Helper()
	s.styles.Keys.SetClickable(true)
	var screen ui.Clickable
	for y, line := range strings.Split(ansi.Strip(screen.Draw(strings.Join(s.view(), "\n"))), "\n") {
		before, _, ok := strings.Cut(line, text)
		if !ok {
			continue
		}
		at := tea.MouseClickMsg{X: ansi.StringWidth(before+text) - 1, Y: y, Button: tea.MouseLeft}
		for _, msg := range screen.Click(at) {
			s.input(msg, func() Result {
				row, ok := msg.(ui.RowMsg)
				if !ok {
					return Result{}
				}
				s.setFocus()
				return s.panel.Point(row)
			})
		}
		return
	}
	s.t.Fatalf("the screen does not show %q:\n%s", text, s.text())
}

func TestAClickOnTheSelectedReasonEditsIt(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 100, 40)
	s.focus()
	s.mustHide("reason:") // an empty one takes no row
	s.press("end")
	s.click("r reason:")
	s.mustShow("▸ reason:")
	s.click("3 Deny") // the text field has the input
	s.mustShow("▸ reason:")
	s.mustNotDecide()
}

// TestNoClickDecidesTooSoonOrUnseen clicks on a new request, on one that does not fit the screen,
// and on a choice that lasts.
func TestNoClickDecidesTooSoonOrUnseen(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 100, 40)
	s.click("Allow once")
	s.click("1 Allow once")
	s.click("1 Allow once")
	s.mustNotDecide()
	s.mustShow("not decided: the request is new")

	s = openCommand(t, strings.Repeat("echo\n", 60)+"rm -rf build")
	s.click("1 Allow once")
	s.waitGrace()
	s.click("1 Allow once")
	s.mustNotDecide()
	s.mustShow("not decided: view it to its end first")

	s = openCommand(t, "go mod tidy")
	s.click("2 Always allow")
	s.waitGrace()
	s.click("2 Always allow")
	s.mustShow("Allow this always")
	s.waitGrace()
	for range 3 {
		s.click("Allow this always")
	}
	s.mustNotDecide()
	s.press("y")
	if d := s.mustDecide(); d.Option != "always" {
		t.Errorf("got %+v", d)
	}
}

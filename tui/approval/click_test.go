package approval

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
)

// click clicks on the last cell of a text.
func (s *testPanel) click(text string) {
	s.t.Helper()
	for y, line := range strings.Split(s.text(), "\n") {
		before, _, ok := strings.Cut(line, text)
		if !ok {
			continue
		}
		x := ansi.StringWidth(before+text) - 1
		s.input(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}, func() Result {
			s.setFocus()
			return s.panel.Click(y, x)
		})
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

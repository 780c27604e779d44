package review

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/filechange"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// click clicks on the first line of the body with a text, at a column.
func (r *testReview) click(text string, x int) {
	r.t.Helper()
	lines := strings.Split(r.text(), "\n")
	headRows := r.View.content.headRows()
	y := headRows + slices.IndexFunc(lines[headRows:], func(line string) bool { return strings.Contains(line, text) })
	if y < headRows {
		r.t.Fatalf("the screen does not show %q:\n%s", text, r.text())
	}
	r.styles.Keys.SetClickable(true)
	defer r.styles.Keys.SetClickable(false)
	lines, _ = r.View.View(r.width, r.height)
	var screen ui.Clickable
	screen.Draw(strings.Join(lines, "\n"))
	for _, msg := range screen.Click(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}) {
		r.Update(msg)
	}
	r.text()
}

func TestAClickInTheListShowsTheFile(t *testing.T) {
	r := open(t, manyFiles(6, 30), 200, 24)
	r.click("  file3.go", 5)
	r.mustShow("file 4 of 6")
	r = open(t, manyFiles(6, 30), 80, 24)
	r.press("f")
	r.click("  file2.go", 60)
	r.mustShow("file 3 of 6", "var v2_0 = 0")
}

func TestAClickSelectsALineAndASecondOneComments(t *testing.T) {
	r := open(t, smallPatch, 80, 24)
	r.click("const limit = 20", 10)
	if r.Typing() {
		t.Fatal("the first click starts a comment")
	}
	r.click("const limit = 20", 10)
	r.mustShow("comment on store/store.go:3:")
	r.click("package store", 10) // the text field has the input
	r.write("why?")
	r.press("enter")
	r.mustShow("┕ why?")
	r.SetContent(Content{Changes: r.content.Changes, Unread: true})
	r.click("const limit = 20", 10)
	r.click("const limit = 20", 10)
	if r.Typing() {
		t.Error("a click comments on changes that are not under review")
	}
}

func TestAClickOnAHeadingSelectsItAndOneOnNothingDoesNothing(t *testing.T) {
	r := open(t, manyFiles(3, 30), 80, 24)
	r.click("▏ pkg/file0.go", 5)
	r.mustShow("v0_0")
	r.SetContent(Content{Changes: filechange.New(nil), Comments: &r.comments})
	r.text()
	r.Update(tea.MouseClickMsg{X: 5, Y: 3, Button: tea.MouseLeft})
	if r.body.current != (transcript.Point{}) {
		t.Errorf("a click on nothing selects %v", r.body.current)
	}
}

func TestTheWheelScrollsAReview(t *testing.T) {
	r := open(t, manyFiles(3, 30), 80, 24)
	r.Update(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	r.mustHide("v0_0 ")
	r.Update(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
	r.mustShow("v0_0 ")
}

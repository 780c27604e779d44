package dashboard

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/tui/ui"
)

func TestAClickOnAHintOfTheListActs(t *testing.T) {
	d := newTestDashboard(t, 140, 24, tuitest.Summaries()...)
	lines := strings.Split(strings.TrimRight(tuitest.ScreenText(d.d.View()), "\n"), "\n")
	before, _, ok := strings.Cut(lines[len(lines)-1], "+ new")
	if !ok {
		t.Fatalf("got the last line %q", lines[len(lines)-1])
	}
	d.click(len([]rune(before))+3, 23)
	d.want("new session", "agent")
}

// click clicks on a cell.
func (d *testDashboard) click(x, y int) {
	d.d.Styles.Keys.SetClickable(true)
	d.d.canvas.Dirty = true
	var screen ui.Clickable
	screen.Draw(d.d.View().Content)
	for _, msg := range screen.Click(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}) {
		d.send(msg)
	}
	d.d.Styles.Keys.SetClickable(false)
	d.d.canvas.Dirty = true
}

package dashboard

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
)

func TestAClickOnAHintOfTheListActs(t *testing.T) {
	d := newTestDashboard(t, 140, 24, tuitest.Summaries()...)
	lines := strings.Split(strings.TrimRight(tuitest.ScreenText(d.d.View()), "\n"), "\n")
	before, _, ok := strings.Cut(lines[len(lines)-1], "+ new")
	if !ok {
		t.Fatalf("got the last line %q", lines[len(lines)-1])
	}
	d.send(tea.MouseClickMsg{X: len([]rune(before)) + 3, Y: 23, Button: tea.MouseLeft})
	d.want("new session", "agent")
}

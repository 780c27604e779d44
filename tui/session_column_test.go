package tui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/tui/split"
	"agentctl/tui/task"
	"agentctl/tui/ui"
)

// openWithColumn opens s1 on a screen with the list of sessions.
func openWithColumn(t *testing.T) *testDashboard {
	t.Helper()
	d := newTestDashboard(t, 200, 30, testSummaries()...)
	d.run(d.p.open("s1"))
	d.send(task.Message{To: d.p.sessions.shown, Msg: tuitest.Conversation().Take()})
	return d
}

func TestWideScreenListsTheSessionsBesideTheSession(t *testing.T) {
	d := openWithColumn(t)
	d.wantText("sessions 5 · 1 waiting", "▸· docs", " ? release", "NEEDS YOU 1")
	for i, line := range strings.Split(d.p.View().Content, "\n") {
		if got := ansi.StringWidth(line); got > 200 {
			t.Errorf("line %d: got %d columns", i, got)
		}
	}
	row := strings.Split(d.screen(), "\n")[3]
	if cells := []rune(row); cells[columnWidth-1] != '│' {
		t.Errorf("got no border at column %d: %q", columnWidth-1, row)
	}
	if c := d.p.View().Cursor; c == nil || c.X < columnWidth {
		t.Errorf("got cursor %+v, want it in the composer", c)
	}
	d.send(tea.WindowSizeMsg{Width: 199, Height: 30})
	d.wantNoText("NEEDS YOU")
	if got := d.p.sessionSize().Width; got != 199 {
		t.Errorf("width of the session without the list: got %d", got)
	}
}

func TestGoldenSessionBesideTheList(t *testing.T) {
	d := openWithColumn(t)
	tuitest.Golden(t, d.screen())
}

func TestSessionsOpenFromTheColumn(t *testing.T) {
	d := openWithColumn(t)
	row := -1
	for i, line := range strings.Split(d.screen(), "\n") {
		if strings.Contains(line, " ? release") {
			row = i
		}
	}
	d.send(tea.MouseClickMsg{X: 5, Y: row, Button: tea.MouseLeft})
	if got := d.p.sessions.shown.id; got != "s3" {
		t.Fatalf("a click: got %s, want s3", got)
	}
	d.wantText("▸? release")
	d.press("ctrl+pgdown")
	after := d.p.sessions.shown.id
	if after != d.p.dashboard.Neighbour("s3", 1) || after == "s3" {
		t.Errorf("the next session: got %s", after)
	}
	d.press("alt+pgup")
	if got := d.p.sessions.shown.id; got != "s3" {
		t.Errorf("the previous session: got %s, want s3", got)
	}
	d.press("ctrl+pgup")
	d.wantText("no further session in the list")
	// A click on the session beside it is a click on the same row of the session.
	d.send(tea.MouseClickMsg{X: columnWidth + 1, Y: row, Button: tea.MouseLeft})
	if got := d.p.sessions.shown.id; got != "s3" {
		t.Errorf("a click beside the list opens %s", got)
	}
}

func TestColumnIsHiddenAndRemembered(t *testing.T) {
	d := openWithColumn(t)
	var saved []bool
	d.p.column.options.OnChange = func(hidden bool) { saved = append(saved, hidden) }
	d.press("alt+j")
	d.wantNoText("NEEDS YOU")
	d.wantText("list of sessions hidden")
	d.typeText("/sessions column")
	d.press("enter")
	d.wantText("NEEDS YOU 1")
	d.typeText("/column")
	d.press("enter")
	d.wantNoText("NEEDS YOU")
	if len(saved) != 3 || !saved[0] || saved[1] || !saved[2] {
		t.Errorf("saved %v, want true, false, true", saved)
	}
	d.send(tea.WindowSizeMsg{Width: 120, Height: 30})
	d.press("alt+j")
	d.wantText("the list of sessions needs a screen of 200 columns")
	if hidden := testBuilder(t.Context(), Options{Parts: Parts{List: ListOptions{Hidden: true}}}, nil, nil).
		newDashboard(d.server, "").column.options.Hidden; !hidden {
		t.Error("the choice of the last program is not used")
	}
}

func TestColumnScrollsWithTheWheel(t *testing.T) {
	d := openWithColumn(t)
	d.send(tea.WindowSizeMsg{Width: 200, Height: 5})
	first := strings.Split(d.screen(), "\n")[1]
	d.send(tea.MouseWheelMsg{X: 3, Y: 2, Button: tea.MouseWheelDown})
	if got := strings.Split(d.screen(), "\n")[1]; got == first {
		t.Errorf("the list did not scroll:\n%s", d.screen())
	}
	for range 50 {
		d.send(tea.MouseWheelMsg{X: 3, Y: 2, Button: tea.MouseWheelUp})
	}
	d.wantText("NEEDS YOU")
}

func TestADragEndsOverTheColumn(t *testing.T) {
	d := openWithColumn(t)
	d.send(tea.WindowSizeMsg{Width: 240, Height: 30})
	d.split("alt+v", "s2")
	border := d.p.panes.screen.Borders[0].Area.X + columnWidth
	first := d.p.panes.screen.Panes[0].Session
	d.send(tea.MouseClickMsg{X: border, Y: 12, Button: tea.MouseLeft})
	d.send(tea.MouseMotionMsg{X: 3, Y: 12, Button: tea.MouseLeft})
	if got := d.p.sessions.find(first).size.Width; got != split.MinWidth-1 {
		t.Errorf("dragged over the list: got %d columns, want %d", got, split.MinWidth-1)
	}
	d.send(tea.MouseReleaseMsg{X: 3, Y: 12, Button: tea.MouseLeft})
	d.send(tea.MouseMotionMsg{X: border, Y: 12, Button: tea.MouseLeft})
	if got := d.p.sessions.find(first).size.Width; got != split.MinWidth-1 {
		t.Errorf("the drag goes on after its release: got %d columns", got)
	}
	d.wantOnScreen("s2 s1")
}

func TestColumnUpdatesItsAges(t *testing.T) {
	d := newTestDashboard(t, 200, 30, testSummaries()...)
	d.p.sessions.viewConfig.After = d.p.dashboard.After
	d.run(d.p.open("s1"))
	d.send(nil)
	d.wantText("fix-tests                 now")
	for range 2 {
		d.now = d.now.Add(time.Minute)
		if !d.fireTimers(func(m timer) bool { _, ok := m.msg.(columnTickMsg); return ok }) {
			t.Fatal("no timer redraws the list")
		}
	}
	d.wantText("fix-tests                  2m")
}

func TestThemeIsChosenByName(t *testing.T) {
	d := openWithColumn(t)
	d.typeText("/theme Ember")
	d.press("enter")
	if got := d.p.styles.Theme(); got != ui.ThemeEmber {
		t.Errorf("got theme %s, want ember", got)
	}
	d.typeText("/theme")
	d.press("enter")
	d.wantText("(•) ember", "( ) fjord")
	d.press("down", "enter")
	if got := d.p.styles.Theme(); got != ui.ThemeFjord {
		t.Errorf("got theme %s, want fjord", got)
	}
	d.press("f2", "ctrl+k")
	d.typeText("theme")
	d.press("enter")
	d.wantText("(•) fjord")
}

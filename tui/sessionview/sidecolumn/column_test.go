package sidecolumn

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"agentctl/internal/dev/paneltest"
	"agentctl/internal/dev/tuitest"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

// section returns a section with a title and n lines.
func section(title string, n int) Section {
	return func(int) (string, string, []string) {
		var lines []string
		for i := range n {
			lines = append(lines, fmt.Sprint(" ", title, " ", i))
		}
		return title, fmt.Sprint(n), lines
	}
}

// open returns a rig with a column of the given sections.
func open(t *testing.T, rows int, sections ...Section) (*paneltest.Rig, *Column) {
	t.Helper()
	r := paneltest.New(t, tuitest.NewJournal())
	c := New(Options{}, r.Styles, r.Replica, r.Commands, transcriptview.New(r.Styles), sections...)
	r.Lines = func() []string { return c.view(narrowWidth, rows) }
	return r, c
}

func TestEmptySectionsAreLeftOut(t *testing.T) {
	r, c := open(t, 8, section("plan", 2), section("queue", 0), section("files", 1))
	r.MustShow(" plan 2\n plan 0\n plan 1\n\n files 1\n files 0\n")
	r.MustHide("queue")
	r.Styles.Keys.SetClickable(true)
	var screen ui.Clickable
	screen.Draw(strings.Join(c.view(narrowWidth, 8), "\n"))
	for row, want := range []string{"", "plan", "plan", "", "", "files", ""} {
		index := (row - 1) % 4
		if at := screen.At(2, row); (at == nil) != (want == "") || at != nil && (at.List != Rows+want || at.Row != index) {
			t.Errorf("a click on row %d is on %+v, want line %d of %q", row, at, index, want)
		}
	}
	r.Styles.Keys.SetClickable(false)
	if _, empty := open(t, 8, section("plan", 0)); empty.Width(200) != 0 {
		t.Error("a column without content has a width")
	}
}

func TestTheColumnScrollsToItsEnd(t *testing.T) {
	r, c := open(t, 4, section("plan", 9))
	r.MustShow(" plan 1\n ↓ 7 more lines\n")
	c.Scroll(100)
	r.MustShow(" plan 5\n plan 6\n plan 7\n plan 8\n")
	c.Scroll(-100)
	r.MustShow(" plan 9\n plan 0\n")
}

func TestTheColumnIsToggled(t *testing.T) {
	r, c := open(t, 8, section("plan", 1))
	var saved []bool
	c.OnChange = func(hidden bool) { saved = append(saved, hidden) }
	for _, want := range []int{0, wideWidth} {
		r.Run(c.Toggle(wideScreen).Cmd)
		if got := c.Width(wideScreen); got != want || c.Contains(wideScreen-1, wideScreen) != (want > 0) {
			t.Errorf("got width %d, want %d", got, want)
		}
	}
	if want := []bool{true, false}; !slices.Equal(saved, want) {
		t.Errorf("saved %v, want %v", saved, want)
	}
	r.Overlays.Push(c.Toggle(minScreen - 1).Push)
	r.MustShow("plan 0", "back")
	r.Press("esc")
	if r.Overlays.Top() != nil {
		t.Error("esc does not close the column")
	}
}

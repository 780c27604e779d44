package tui

import (
	"image/color"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"agentctl/internal/dev/tuitest"
	"agentctl/tui/ui"
)

func TestAMessageSwitchesTheTheme(t *testing.T) {
	d := newTestDashboard(t, 90, 16, tuitest.Summaries()...)
	d.send(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
	d.send(tea.BackgroundColorMsg{Color: color.Black})
	screens := map[string]bool{}
	for _, theme := range ui.Themes() {
		d.send(ui.ThemeMsg{Theme: theme})
		screens[d.p.View().Content] = true
	}
	if len(screens) != len(ui.Themes())-1 { // auto is dark
		t.Errorf("the themes show %d screens, want %d", len(screens), len(ui.Themes())-1)
	}
	before := d.p.View().Content
	d.send(ui.ThemeMsg{Theme: ui.ThemeFjord})
	if after := d.p.View().Content; after == before || !strings.Contains(after, "38;2;") {
		t.Error("the message does not redraw the screen in another theme")
	}
}

func TestThemeIsChosenByName(t *testing.T) {
	d := newTestDashboard(t, 200, 30, tuitest.Summaries()...)
	d.run(d.p.open("s1"))
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

func TestTmuxInATerminalOfTrueColourHasIt(t *testing.T) {
	for env, want := range map[[3]string]bool{
		{"TMUX=/tmp/tmux", "COLORTERM=truecolor"}:          true,
		{"TMUX=/tmp/tmux", "COLORTERM=24bit"}:              true,
		{"TMUX=/tmp/tmux"}:                                 false,
		{"COLORTERM=truecolor"}:                            false, // Bubble Tea decides
		{"TMUX=/tmp/tmux", "COLORTERM=truecolor", "STY=1"}: false, // GNU screen has 256
	} {
		if got := hasTmuxTrueColor(ui.Environ(env[:])); got != want {
			t.Errorf("%q: %t", env, got)
		}
	}
}

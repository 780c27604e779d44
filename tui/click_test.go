package tui

import (
	"maps"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/tui/approval"
	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

// clickScreens are screens by name, as the keys that open them from the list. The first word is the
// session that they open first, or "-".
var clickScreens = map[string]string{
	"list":          "-",
	"preview":       "- p",
	"marked":        "- space",
	"list help":     "- f1",
	"all keys":      "- f1 ?",
	"palette":       "- ctrl+k",
	"new session":   "- +",
	"rename":        "- e",
	"close":         "- X",
	"jump":          "- ctrl+t",
	"filter":        "- /",
	"request":       "s1",
	"request focus": "s1 tab",
	"request whole": "s1 tab v",
	"session":       "s2",
	"transcript":    "s2 tab",
	"session help":  "s2 f1",
	"commands":      "s2 ctrl+k",
	"turns":         "s2 f10",
	"changes":       "s2 f9",
	"queue":         "s5xyz789 tab",
	"plan":          "s3 tab",
	"panes":         "s2 alt+w v=s3",
}

// openClickable opens a screen with the mouse.
func openClickable(t *testing.T, screen string) *testDashboard {
	d := newTestDashboardWith(t, Options{Mouse: true}, 120, 40, tuitest.Summaries()...)
	session, keys, _ := strings.Cut(screen, " ")
	if session != "-" {
		d.p.dashboard.Select(session)
		d.press("enter")
		d.fill(session)
		d.waitGrace()
	}
	if keys, other, split := strings.Cut(keys, "="); split {
		d.split(strings.TrimPrefix(keys, "alt+w "), other)
		return d
	}
	for _, key := range strings.Fields(keys) {
		d.press(key)
		d.waitGrace()
	}
	return d
}

// targets returns what is marked on the screen, with a cell of each.
func (d *testDashboard) targets() map[*keymap.Target][2]int {
	v := d.p.View()
	out := map[*keymap.Target][2]int{}
	for y := range strings.Count(v.Content, "\n") + 1 {
		for x := range 120 {
			if target := d.p.mouse.screen.At(x, y); target != nil && out[target] == [2]int{} {
				out[target] = [2]int{x, y}
			}
		}
	}
	return out
}

func (d *testDashboard) clickAt(cell [2]int) {
	d.send(tea.MouseClickMsg{X: cell[0], Y: cell[1], Button: tea.MouseLeft})
}

// screenText returns the screen as the mouse has drawn it.
func (d *testDashboard) screenText() string { return ansi.Strip(d.p.View().Content) }

// TestEveryHintThatIsDrawnCanBeClicked compares a click on each hint of each screen with its key.
func TestEveryHintThatIsDrawnCanBeClicked(t *testing.T) {
	for name, screen := range clickScreens {
		t.Run(name, func(t *testing.T) {
			d := openClickable(t, screen)
			plain := d.screenText()
			seen := map[string]bool{}
			for target, cell := range d.targets() {
				keys := strings.Join(target.Keys, " ")
				if keys == "" || seen[keys] || d.p.panes.beside(cell[0], cell[1]) {
					continue
				}
				seen[keys] = true
				clicked, pressed := openClickable(t, screen), openClickable(t, screen)
				if clicked.screenText() != plain {
					t.Fatal("the screen is another one")
				}
				clicked.clickAt(cell)
				for _, key := range target.Keys {
					pressed.press(key)
				}
				if got, want := clicked.screenText(), pressed.screenText(); got != want {
					t.Errorf("a click on the hint of %s shows\n%s\nits key\n%s", keys, got, want)
				}
			}
			if len(seen) == 0 {
				t.Errorf("nothing can be clicked on\n%s", plain)
			}
		})
	}
}

// TestEveryRowCanBeClickedAndWheeled clicks on another row of each list and turns the wheel over it.
func TestEveryRowCanBeClickedAndWheeled(t *testing.T) {
	for _, name := range []string{
		"list", "palette", "new session", "jump", "request focus", "commands", "turns", "queue",
	} {
		t.Run(name, func(t *testing.T) {
			for _, wheel := range []bool{false, true} {
				d := openClickable(t, clickScreens[name])
				before, targets := d.p.View().Content, d.targets()
				moved := slices.ContainsFunc(slices.Collect(maps.Keys(targets)), func(target *keymap.Target) bool {
					if len(target.Keys) > 0 || target.Row < 0 {
						return false
					}
					if cell := targets[target]; wheel && target.Row >= 0 {
						d.send(tea.MouseWheelMsg{X: cell[0], Y: cell[1], Button: tea.MouseWheelDown})
						if d.p.View().Content == before { // at the end
							d.send(tea.MouseWheelMsg{X: cell[0], Y: cell[1], Button: tea.MouseWheelUp})
						}
					} else if target.Row == 1 {
						d.clickAt(cell)
					}
					return d.p.View().Content != before
				})
				if !moved && !(wheel && name == "new session") { // a form has no selection that scrolls
					t.Errorf("wheel %v: no row moves on\n%s", wheel, ansi.Strip(before))
				}
			}
		})
	}
}

// TestNoClickOnANewRequestActs covers the 600 ms after a request is drawn with the focus: no hint and no row
// of the screen acts.
func TestNoClickOnANewRequestActs(t *testing.T) {
	d := openClickable(t, "s1")
	d.press("tab")
	before := d.p.View().Content
	for _, cell := range d.targets() {
		d.clickAt(cell)
	}
	if got := d.p.View().Content; got != before {
		t.Errorf("a click acts on\n%s", ansi.Strip(got))
	}
	d.waitGrace()
	for target, cell := range d.targets() {
		if target.List == approval.Rows && target.Row == 0 {
			d.clickAt(cell)
		}
	}
	d.wantText("▸ 1 Allow once")
}

func TestTheMouseIsSwitchedOffAndOn(t *testing.T) {
	for name, screen := range clickScreens {
		t.Run(name, func(t *testing.T) {
			d := openClickable(t, screen)
			d.send(ui.SwitchMouseMsg{})
			if v := d.p.View(); v.MouseMode != tea.MouseModeNone || strings.Contains(v.Content, "\x1b[99:") {
				t.Errorf("the mouse is off, and the screen can be clicked: %q", v.Content)
			}
			d.send(ui.SwitchMouseMsg{})
			if v := d.p.View(); v.MouseMode != tea.MouseModeCellMotion || len(d.targets()) == 0 {
				t.Error("the mouse is on, and nothing can be clicked")
			}
		})
	}
	for _, screen := range []string{"-", "s2"} {
		d := openClickable(t, screen)
		d.press("alt+m")
		d.wantText("mouse off · the terminal selects text")
		d.press("alt+m")
		d.wantText("mouse on · ")
	}
}

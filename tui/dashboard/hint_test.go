package dashboard

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
)

// keyHint is a hint that names a key and what it does.
var keyHint = regexp.MustCompile(`^(enter|esc|tab|space|F\d+|(ctrl|alt|shift)\+\S+|↑↓|←|[][A-Za-z/?*]) \S`)

// hintsOf returns the hints on the screen: those of the last line, and those of every line above
// that names two keys or more.
func hintsOf(d *testDashboard) []string {
	var out []string
	lines := strings.Split(strings.TrimSuffix(d.screen(), "\n"), "\n")
	for i, line := range lines {
		parts := regexp.MustCompile(` · | {2,}`).Split(strings.Trim(line, " │─╮╯╰╭"), -1)
		if i < len(lines)-1 {
			parts = slices.DeleteFunc(parts, func(part string) bool { return !keyHint.MatchString(part) })
			if len(parts) < 2 {
				continue
			}
		}
		out = append(out, parts...)
	}
	return out
}

// TestHintsOfTheDashboardNameKeysThatAct presses every key that the screen names.
func TestHintsOfTheDashboardNameKeysThatAct(t *testing.T) {
	total := 0
	for name, prepare := range map[string]func(*testDashboard){
		"list":     func(*testDashboard) {},
		"filter":   func(d *testDashboard) { d.press("/"); d.typeText("fix") },
		"new":      func(d *testDashboard) { d.press("+") },
		"rename":   func(d *testDashboard) { d.press("e") },
		"close":    func(d *testDashboard) { d.press("X") },
		"palette":  func(d *testDashboard) { d.press("ctrl+k") },
		"approval": func(d *testDashboard) { d.openApproval(tuitest.CommandApproval()) },
		"labels":   func(d *testDashboard) { d.press("l") },
		"jump":     func(d *testDashboard) { d.press("alt+g") },
		"marks":    func(d *testDashboard) { d.press("space", "down", "space") },
		"review":   func(d *testDashboard) { d.openApproval(twelveFiles()); d.press("v") },
		"search in a review": func(d *testDashboard) {
			d.openApproval(twelveFiles())
			d.press("v", "/")
			d.typeText("part")
			d.press("enter")
		},
	} {
		open := func() *testDashboard {
			d := newTestDashboard(t, 160, 40, tuitest.Summaries()...)
			d.server.SetPending(tuitest.CommandApproval())
			prepare(d)
			d.waitGrace()
			return d
		}
		hints := hintsOf(open())
		for _, hint := range hints {
			word, _, _ := strings.Cut(hint, " ")
			key := strings.ToLower(word)
			switch {
			case len(word) == 1:
				key = word
			case word == "↑↓":
				key = "down"
			case word == "←":
				key = "right"
			}
			total++
			d := open()
			before := d.screen()
			cmd, intent := d.startKey(key)
			msgs := tuitest.Messages(cmd)
			acts := intent != nil || slices.ContainsFunc(msgs, func(m tea.Msg) bool { return m != nil })
			if !acts && d.screen() == before {
				t.Errorf("%s: the screen names %q in %q, which does nothing", name, key, hints)
			}
		}
	}
	if total < 15 {
		t.Errorf("only %d keys named", total)
	}
}

// TestPaletteOfTheDashboardRunsItsCommands runs commands of the list by name.
func TestPaletteOfTheDashboardRunsItsCommands(t *testing.T) {
	for name, want := range map[string]string{
		"new": "─ new session", "filter": "─ filter", "rename": "─ rename release", "close": "─ close release?",
		"help": "F1, alt+h", "find": "find", "sort": "by project",
	} {
		d := newTestDashboard(t, 100, 30, tuitest.Summaries()...)
		d.press("ctrl+k")
		d.typeText(name)
		d.want("▸ /" + name)
		d.press("enter")
		d.want(want)
		d.wantNo("tab complete")
	}
}

func TestMarksShowTheKeysForSeveralSessions(t *testing.T) {
	d := newTestDashboard(t, 80, 24, tuitest.Summaries()...)
	d.want("enter open · F8 next pending")
	d.press("space")
	d.want("y decide · n deny · ctrl+x interrupt · m message · X close · esc unmark")
	d.press("esc")
	d.want("enter open · F8 next pending")
}

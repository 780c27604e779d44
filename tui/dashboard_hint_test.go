package tui

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/tuitest"
	"agentctl/protocol"
)

// TestHintsOfTheDashboardNameKeysThatAct presses every key that the last line names.
func TestHintsOfTheDashboardNameKeysThatAct(t *testing.T) {
	total := 0
	for name, prepare := range map[string]func(*testDashboard){
		"list":     func(*testDashboard) {},
		"filter":   func(d *testDashboard) { d.press("/"); d.typeText("fix") },
		"new":      func(d *testDashboard) { d.press("n") },
		"rename":   func(d *testDashboard) { d.press("R") },
		"close":    func(d *testDashboard) { d.press("X") },
		"palette":  func(d *testDashboard) { d.press("ctrl+k") },
		"approval": func(d *testDashboard) { d.openApproval(tuitest.CommandApproval()) },
	} {
		open := func() *testDashboard {
			d := newTestDashboard(t, 160, 40, testSummaries()...)
			d.setPending(tuitest.CommandApproval())
			prepare(d)
			d.waitGrace()
			return d
		}
		hints := lastLine(open())
		for _, hint := range regexp.MustCompile(` · | {2,}`).Split(strings.TrimSpace(hints), -1) {
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
			_, cmd := d.p.Update(tuitest.KeyPress(key))
			msgs := tuitest.Messages(cmd)
			if d.screen() == before && !slices.ContainsFunc(msgs, func(m tea.Msg) bool { return m != nil }) {
				t.Errorf("%s: the screen names %q in %q, which does nothing", name, key, hints)
			}
		}
	}
	if total < 15 {
		t.Errorf("only %d keys named", total)
	}
}

// lastLine returns the last line of the screen.
func lastLine(d *testDashboard) string {
	lines := strings.Split(strings.TrimSuffix(d.screen(), "\n"), "\n")
	return lines[len(lines)-1]
}

// TestPaletteOfTheDashboardRunsItsCommands runs commands of the list by name.
func TestPaletteOfTheDashboardRunsItsCommands(t *testing.T) {
	for name, want := range map[string]string{
		"new": "─ new session", "filter": "─ filter", "rename": "─ rename release", "close": "─ close release?",
		"help": "this help", "find": "find", "log": "keeps no protocol log", "sort": "by activity",
	} {
		d := newTestDashboard(t, 100, 30, testSummaries()...)
		d.press("ctrl+k")
		d.typeText(name)
		d.wantText("▸ /" + name)
		d.press("enter")
		d.wantText(want)
		d.wantNoText("command:")
	}
}

// TestPaletteOfASessionCreatesAnother runs /new in a session: the form of the list opens.
func TestPaletteOfASessionCreatesAnother(t *testing.T) {
	d := newTestDashboard(t, 100, 30, testSummaries()...)
	d.press("enter")
	if d.p.sessions.shown == nil {
		t.Fatal("no session is open")
	}
	d.typeText("/new")
	d.press("enter")
	d.wantText("─ new session", "directory")
	for id, s := range d.server.sessions {
		for _, c := range s.Commands() {
			if c.Verb == protocol.DoSend {
				t.Errorf("%s gets the message %+v", id, c.Data)
			}
		}
	}
}

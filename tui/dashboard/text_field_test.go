package dashboard

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/thorough"
	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// editableCommand is a request of an agent that takes an edited command.
func editableCommand() protocol.Approval {
	a := tuitest.CommandApproval()
	a.Editable = true
	return a
}

// dashboardFields open the text fields of the dashboard, by name.
func dashboardFields() map[string]func(*testDashboard) {
	return map[string]func(*testDashboard){
		"filter":  func(d *testDashboard) { d.press("/") },
		"search":  func(d *testDashboard) { d.press("ctrl+f") },
		"name":    func(d *testDashboard) { d.press("e") },
		"new":     func(d *testDashboard) { d.press("+") },
		"labels":  func(d *testDashboard) { d.press("l") },
		"jump":    func(d *testDashboard) { d.press("alt+g") },
		"message": func(d *testDashboard) { d.press("space", "down", "space", "m") },
		"palette": func(d *testDashboard) { d.press("ctrl+k") },
		"reason":  func(d *testDashboard) { d.openApproval(tuitest.CommandApproval()); d.press("r") },
		"command": func(d *testDashboard) { d.openApproval(editableCommand()); d.waitGrace(); d.press("e") },
		"comment": func(d *testDashboard) {
			d.openApproval(twelveFiles())
			d.press("v")
			d.waitGrace()
			d.press("J", "m")
		},
		"find in a review": func(d *testDashboard) {
			d.openApproval(twelveFiles())
			d.press("v")
			d.waitGrace()
			d.press("/")
		},
	}
}

// TestPrintableKeysOnlyWriteInTextFieldsOfTheDashboard presses every printable key in every text
// field, with a request pending.
func TestPrintableKeysOnlyWriteInTextFieldsOfTheDashboard(t *testing.T) {
	keys := strings.Split("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ?/[]", "")
	for name, open := range dashboardFields() {
		for _, key := range thorough.Sample(keys, 20) {
			d := newTestDashboard(t, 100, 30, tuitest.Summaries()...)
			d.server.SetPending(tuitest.CommandApproval())
			open(d)
			before := d.d.View().Cursor
			d.waitGrace()
			d.press(key)
			if got := d.decisions(); len(got) > 0 {
				t.Errorf("%s: %q decides %+v", name, key, got)
			}
			if d.opened() != "" {
				t.Errorf("%s: %q opens a session", name, key)
			}
			cursor := d.d.View().Cursor
			if before == nil || cursor == nil || cursor.X != before.X+1 {
				t.Fatalf("%s: %q does not write", name, key)
			}
			for _, s := range d.server.Sessions {
				for _, c := range s.Commands() {
					if c.Verb != protocol.DoSnapshot && c.Verb != protocol.DoSearch {
						t.Errorf("%s: %q sends %+v", name, key, c)
					}
				}
			}
		}
	}
}

func TestTheEditorEditsEveryTextFieldOfOneLineOfTheDashboard(t *testing.T) {
	for name, open := range dashboardFields() {
		if name == "command" {
			continue // of several lines
		}
		d := newTestDashboard(t, 100, 30, tuitest.Summaries()...)
		d.d.screen.Editor = `printf "edited\nline\n" >`
		d.d.screen.Exec = func(c tea.ExecCommand, done tea.ExecCallback) tea.Cmd {
			return func() tea.Msg { return done(c.Run()) }
		}
		open(d)
		d.press("ctrl+g")
		if !strings.Contains(d.screen(), "edited line") {
			t.Errorf("%s: the field has another text:\n%s", name, d.screen())
		}
	}
}

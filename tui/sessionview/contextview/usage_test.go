package contextview

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/paneltest"
	"agentctl/internal/dev/tuitest"
	"agentctl/tui/keymap"
	"agentctl/tui/sessionview/panel"
)

// open returns a session with the events of a journal. A key opens the page.
func open(t *testing.T, j *tuitest.Journal) *paneltest.Rig {
	t.Helper()
	r := paneltest.New(t, j)
	actions := Actions(panel.Base{Styles: r.Styles, Replica: r.Replica, Commands: r.Commands, Now: r.Now})
	r.Key = func(string) tea.Cmd {
		result := actions[keymap.ShowContext].Run("")
		r.Overlays.Push(result.Push)
		return result.Cmd
	}
	r.ApplyJournal()
	return r
}

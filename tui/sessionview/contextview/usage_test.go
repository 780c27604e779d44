package contextview

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/paneltest"
	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/turns"
)

// open returns the usage of a session with the events of a journal. A key opens its page.
func open(t *testing.T, j *tuitest.Journal) (*paneltest.Rig, *Usage) {
	t.Helper()
	r := paneltest.New(t, j)
	reader := &turns.Turns{}
	u := New(panel.Base{Styles: r.Styles, Replica: r.Replica, Commands: r.Commands, Now: r.Now}, reader)
	r.Apply = func(e *protocol.Event) {
		if _, err := reader.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	r.Reset = func() {
		reader.Reset(r.Replica.State.Seq, r.Replica.State)
	}
	r.Key = func(string) tea.Cmd {
		result := u.open("")
		r.Overlays.Push(result.Push)
		return result.Cmd
	}
	r.ApplyJournal()
	return r, u
}

package contextview

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/paneltest"
	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/turns"
)

// open returns the usage of a session with the events of a journal. A key opens its page.
func open(t *testing.T, j *tuitest.Journal) (*paneltest.Rig, *Usage) {
	t.Helper()
	r := paneltest.New(t, j)
	reader := &turns.Turns{}
	u := New(panel.Base{Styles: r.Styles, Replica: r.Replica, Commands: r.Commands, Now: r.Now}, reader, r.Now)
	r.Apply = func(e *protocol.Event) {
		if _, err := reader.Apply(e); err != nil {
			t.Fatal(err)
		}
		u.Apply(e)
	}
	r.Reset = func() {
		reader.Reset(r.Replica.State.Seq, r.Replica.State)
		u.Reset()
	}
	r.Key = func(string) tea.Cmd {
		page, cmd := u.OpenPage(r.Styles)
		r.Overlays.Push(page)
		return cmd
	}
	r.ApplyJournal()
	return r, u
}

// historyRequests returns the number of requests for the usage of past turns.
func historyRequests(r *paneltest.Rig) int {
	n := 0
	for _, a := range r.Session.Sent {
		if d, ok := a.Data.(protocol.HistoryData); ok && d.Limit == usageTurns {
			n++
		}
	}
	return n
}

func TestContextHistoryRequestedOnce(t *testing.T) {
	r, _ := open(t, tuitest.GrowingContext())
	r.Press("f6", "q", "f6")
	if n := historyRequests(r); n != 1 {
		t.Errorf("got %d requests for history, want 1", n)
	}
}

func TestContextAfterSnapshot(t *testing.T) {
	j := tuitest.GrowingContext()
	r, u := open(t, j)
	r.Press("f6", "q")
	if len(u.turns.Contexts()) == 0 {
		t.Fatal("no turns are tracked before the snapshot")
	}
	j.Pending = append(j.Pending, remote.Update{Attached: &protocol.SubscribeResult{
		Mode: protocol.ModeSnapshot, After: protocol.Position{Epoch: "k3f9ab", Seq: 90},
		Snapshot: &protocol.Snapshot{Epoch: "k3f9ab", State: &protocol.State{Session: "s1", Seq: 90, Turns: 3}},
	}})
	j.CaughtUp()
	r.ApplyJournal()
	if n := len(u.turns.Contexts()); n != 0 {
		t.Errorf("got %d turns from before the snapshot, want none", n)
	}
	r.TakeCommands()
	r.Press("f6")
	if n := historyRequests(r); n != 1 {
		t.Errorf("got %d requests for history, want 1", n)
	}
}

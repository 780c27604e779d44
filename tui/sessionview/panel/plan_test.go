package panel

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/paneltest"
	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/turns"
)

// openPlan returns a rig with a plan panel that has the focus.
func openPlan(t *testing.T, j *tuitest.Journal) *paneltest.Rig {
	t.Helper()
	r := paneltest.New(t, j)
	reader := &turns.Turns{}
	p := NewPlan(Base{Styles: r.Styles, Replica: r.Replica, Commands: r.Commands, Now: r.Now}, reader)
	p.SetFocus(true)
	r.Apply = func(e *protocol.Event) {
		if _, err := reader.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	r.Lines = func() []string { return p.View(80, 24) }
	r.Key = func(key string) tea.Cmd {
		result := p.Press(key)
		if result.Push != nil {
			r.Overlays.Push(result.Push)
		}
		return result.Cmd
	}
	r.ApplyJournal()
	return r
}

func TestTaskCancelAndRestart(t *testing.T) {
	s := openPlan(t, tuitest.Scenes["plan"]())
	s.MustShow("▸ ▸ Drop what is unused")
	s.Press("delete")
	s.MustShow("cancel the task “Drop what is unused”?", "▸ Cancel")
	s.Press("enter") // Cancel has the focus
	s.MustSendNothing()
	s.Press("delete", "right", "enter")
	if data := s.MustSend(protocol.DoTaskCancel).(protocol.TaskIDData); data.Task != "2" {
		t.Errorf("got cancelled task %+v, want 2", data)
	}
	s.Journal.AddBy(tuitest.Ada, protocol.TaskCancelled, protocol.TaskData{Task: "2"})
	s.ApplyJournal()
	s.MustShow("▸ ⊘ Drop what is unused")
	s.Press("down", "R")
	if data := s.MustSend(protocol.DoTaskRestart).(protocol.TaskIDData); data.Task != "3" {
		t.Errorf("got restarted task %+v, want 3", data)
	}
	s.Journal.AddBy(tuitest.Ada, protocol.TaskRestarted, protocol.TaskData{Task: "3", Attempt: 2})
	s.ApplyJournal()
	s.MustShow("▸ · Build")
}

func TestTaskCommandOnce(t *testing.T) {
	s := openPlan(t, tuitest.Scenes["plan"]())
	s.Refuse(tuitest.ErrRefused)
	s.Press("delete", "right")
	cmd := s.Start("enter")
	s.MustShow("cancelling …")
	s.Press("delete", "right", "enter", "R")
	s.MustSendNothing()
	s.Run(cmd)
	s.MustSend(protocol.DoTaskCancel)
	s.MustShow("observers may not do that")
	s.MustHide("cancelling …")
}

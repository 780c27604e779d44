package sessionview

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/notify"
)

func TestTaskCancelAndRestart(t *testing.T) {
	s := open(t, tuitest.Scenes["plan"](), 80, 24)
	s.press("tab")
	s.mustShow("▸ ▸ Drop what is unused")
	s.press("delete")
	s.mustShow("cancel the task “Drop what is unused”?", "▸ Cancel")
	s.press("enter") // Cancel has the focus
	s.mustSendNothing()
	s.press("delete", "right", "enter")
	if data := s.mustSend(protocol.DoTaskCancel).(protocol.TaskIDData); data.Task != "2" {
		t.Errorf("got cancelled task %+v, want 2", data)
	}
	s.journal.AddBy(tuitest.Ada, protocol.TaskCancelled, protocol.TaskData{Task: "2"})
	s.applyJournal()
	s.mustShow("▸ ⊘ Drop what is unused")
	s.press("down", "r")
	if data := s.mustSend(protocol.DoTaskRestart).(protocol.TaskIDData); data.Task != "3" {
		t.Errorf("got restarted task %+v, want 3", data)
	}
	s.journal.AddBy(tuitest.Ada, protocol.TaskRestarted, protocol.TaskData{Task: "3", Attempt: 2})
	s.applyJournal()
	s.mustShow("▸ · Build")
}

func TestTaskCommandOnce(t *testing.T) {
	s := open(t, tuitest.Scenes["plan"](), 80, 24)
	s.press("tab")
	s.refuse(tuitest.ErrRefused)
	s.press("delete", "right")
	cmd := s.m.Update(tuitest.KeyPress("enter"))
	s.mustShow("cancelling …")
	s.press("delete", "right", "enter", "r")
	s.mustSendNothing()
	s.run(cmd)
	s.mustSend(protocol.DoTaskCancel)
	s.mustShow("observers may not do that")
	s.mustHide("cancelling …")
}

func TestLongPlanShowsSelectedTask(t *testing.T) {
	j := tuitest.Conversation()
	var tasks []protocol.Task
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"} {
		tasks = append(tasks, protocol.Task{ID: name, Title: "Task " + name})
	}
	j.Add(protocol.PlanUpdated, protocol.PlanTasksData{Tasks: tasks})
	j.CaughtUp()
	s := open(t, j, 80, 24)
	s.press("tab")
	for range 9 {
		s.press("down")
	}
	s.mustShow("▸ · Task j")
	s.press("esc")
	s.mustShow("· Task a")
	if s.m.focus != onComposer {
		t.Error("esc does not focus the composer")
	}
}

func TestPlanEndMovesFocus(t *testing.T) {
	s := open(t, tuitest.Scenes["plan"](), 80, 24)
	s.press("tab")
	s.journal.EndTurn(protocol.ReasonCompleted)
	s.applyJournal()
	if s.m.focus != onComposer {
		t.Error("the focus stays on a hidden plan")
	}
	s.press("c")
	s.mustShow("> c")
	s.mustSendNothing()
}

func TestPlanHiddenInNextTurn(t *testing.T) {
	s := open(t, tuitest.Scenes["plan"](), 80, 24)
	s.journal.EndTurn(protocol.ReasonInterrupted)
	s.journal.UserMessage(tuitest.Ada, "m9", "something else")
	s.applyJournal()
	s.mustHide("plan ·")
	n := notify.NewNotifier(notify.DetectNotifications([]string{"WT_SESSION=x"}), false)
	if bar := n.Progress(s.m.State(), s.m.Plan(), s.m.Conn()); bar == nil || bar.State != tea.ProgressBarIndeterminate {
		t.Errorf("got progress %+v of a finished plan", bar)
	}
	s.press("tab")
	if s.m.focus == onPlan {
		t.Error("a finished plan has the focus")
	}
	s.journal.Add(protocol.PlanUpdated, protocol.PlanTasksData{Tasks: []protocol.Task{{ID: "1", Title: "Another one"}}})
	s.applyJournal()
	s.mustShow("plan · 0 of 1", "· Another one")
}

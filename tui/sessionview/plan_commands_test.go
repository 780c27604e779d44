package sessionview

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/notify"
)

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
	session := s.m.Session()
	bar := n.Progress(session.State, s.m.Plan(), session.Conn.State)
	if bar == nil || bar.State != tea.ProgressBarIndeterminate {
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

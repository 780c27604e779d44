package approval

import (
	"encoding/json"
	"reflect"
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestRevisionAsksForItsReason(t *testing.T) {
	for name, keys := range map[string][]string{
		"number": {"3", "enter"}, "row": {"down", "down", "down", "enter"},
	} {
		s := openApproval(t, tuitest.PlanApproval())
		s.focus()
		s.mustShow("3 Revise with reason")
		s.press(keys...)
		s.mustNotDecide()
		s.mustShow("enter sends · esc discard")
		s.press("enter")
		s.mustNotDecide()
		s.mustShow("a new plan needs a reason")
		s.press("3", "enter")
		s.typeText("in 1 step")
		s.press("enter")
		data := s.mustDecide()
		want := protocol.ApproveData{
			Request: "r1", Option: "", Decision: protocol.Deny, Reason: "in 1 step",
			Input: &protocol.ApprovalInput{Replan: true},
		}
		if !reflect.DeepEqual(data, want) {
			t.Errorf("%s: got %+v, want %+v", name, data, want)
		}
	}
}

func TestRevisionIsDiscarded(t *testing.T) {
	s := openApproval(t, tuitest.PlanApproval())
	s.focus()
	s.press("3", "enter")
	s.typeText("in 1 step")
	s.press("esc")
	s.mustNotDecide()
	s.press("r")
	s.typeText("shorter")
	s.press("enter") // only the reason: no decision was chosen
	s.mustNotDecide()
	s.press("3", "enter")
	if data := s.mustDecide(); data.Reason != "shorter" {
		t.Errorf("got %+v, want the reason as written", data)
	}
}

func TestRevisionNeedsADenial(t *testing.T) {
	a := tuitest.PlanApproval()
	a.Options = a.Options[:1]
	s := openApproval(t, a)
	s.mustShow("Allow once")
	s.mustHide("Revise")
}

func TestPlanApproval(t *testing.T) {
	scene := func() *testPanel {
		j := tuitest.Conversation()
		j.RequestApproval(protocol.Approval{
			Request: "p1",
			Kind:    protocol.ApprovePlan,
			Title:   "Three tasks",
			Tasks: []protocol.Task{
				{ID: "a", Title: "Read"},
				{ID: "b", Title: "Write", After: []string{"a"}},
				{ID: "c", Title: "Build", After: []string{"a", "b"}},
			},
		})
		j.CaughtUp()
		s := open(t, j, 80, 40)
		s.focus()
		return s
	}
	s := scene()
	s.press("y")
	if data := s.mustDecide(); data.Input != nil {
		t.Errorf("got input %+v for an unchanged plan, want none", data.Input)
	}
	s = scene()
	s.mustShow("[x] task 1 ▏ Read", "[x] task 2 after 1 ▏ Write", "[x] task 3 after 1, 2 ▏ Build")
	s.press("down", "enter")
	s.mustShow("[ ] task 2 after 1 ▏ Write", "[x] task 3 after 1 ▏ Build")
	s.press("y")
	data := s.mustDecide()
	want := []protocol.Task{{ID: "a", Title: "Read"}, {ID: "c", Title: "Build", After: []string{"a"}}}
	if data.Input == nil || !reflect.DeepEqual(data.Input.Tasks, want) {
		t.Errorf("got input %+v, want %+v", data.Input, want)
	}
	s = scene()
	s.press("r")
	s.typeText("shorter")
	s.press("enter", "5", "enter")
	data = s.mustDecide()
	if data.Decision != protocol.Deny || data.Reason != "shorter" || data.Input == nil || !data.Input.Replan {
		t.Errorf("got revision %+v", data)
	}
}

func TestApprovalShowsArgumentsThatNothingElseShows(t *testing.T) {
	a := tuitest.PlanApproval()
	a.Input = json.RawMessage(`{"plan":"# Two steps\n1. look\n2. change","mode":"full","note":""}`)
	s := openApproval(t, a)
	s.mustShow("▏ mode: full", "▏ note:", "▏ # Two steps")
	s.mustHide("▏ plan:")
}

func TestApprovalEditPlanTask(t *testing.T) {
	s := open(t, tuitest.Scenes["tasks to confirm"](), 100, 40)
	s.focus()
	s.press("down", "down", "down", "e")
	s.mustShow("select a task to edit it")
	s.waitGrace()
	s.press("up", "up", "e")
	s.typeText(" half of it")
	s.press("enter")
	s.mustShow("[x] task 2 after 1 ▏ Write half of it")
	s.press("y")
	want := []protocol.Task{
		{ID: "a", Title: "Read", Description: "all of it"},
		{ID: "b", Title: "Write half of it", After: []string{"a"}},
		{ID: "c", Title: "Build", After: []string{"a", "b"}},
	}
	if data := s.mustDecide(); data.Input == nil ||
		!reflect.DeepEqual(data.Input.Tasks, want) {
		t.Errorf("got input %+v, want tasks %+v", data.Input, want)
	}
}

// openApproval opens a session with one pending request, exactly as given.
func openApproval(t *testing.T, a protocol.Approval) *testPanel {
	t.Helper()
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "go")
	j.Add(protocol.ApprovalRequested, a)
	j.CaughtUp()
	s := open(t, j, 80, 30)
	s.waitGrace()
	return s
}

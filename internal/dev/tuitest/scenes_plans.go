package tuitest

import (
	"encoding/json"

	"agentctl/protocol"
)

// planPipeline returns a turn with four tasks: one finished, two running and one pending.
func planPipeline() *Journal {
	j := NewJournal()
	j.UserMessage(Ada, "m1", "Which of our tests are flaky?")
	j.Add(protocol.PlanStarted, protocol.PlanStartedData{Question: "which tests are flaky"})
	tasks := []protocol.Task{
		{ID: "a", Title: "List the tests"},
		{ID: "b", Title: "Run each a hundred times", Description: "With the race detector.", After: []string{"a"}},
		{ID: "c", Title: "讀紀錄"},
		{ID: "d", Title: "Sum up"},
	}
	j.Add(protocol.PlanUpdated, protocol.PlanTasksData{Tasks: tasks, Summary: "list, run, read, sum up"})
	j.Task("a", protocol.TaskStarted, protocol.TaskData{})
	j.Text("p1", "There are **212** tests\n", "in 40 packages.")
	j.setTask("a", 3)
	j.Add(protocol.TextEnd, protocol.PartEndData{Part: "p1"})
	j.Task("a", protocol.TaskCompleted, protocol.TaskData{Result: "212 tests in 40 packages", DurationMS: 1200})
	j.Task("b", protocol.TaskStarted, protocol.TaskData{})
	j.Task("c", protocol.TaskStarted, protocol.TaskData{})
	j.Task("c", protocol.TaskFailed, protocol.TaskData{Message: "no logs"})
	j.Task("c", protocol.TaskRestarted, protocol.TaskData{Attempt: 2})
	j.Task("c", protocol.TaskStarted, protocol.TaskData{Attempt: 2})
	j.Task("b", protocol.TaskProgress, protocol.TaskData{Message: "40 of 212"})
	j.Text("p2", "Running\n", "TestStore …")
	j.setTask("b", 3)
	j.CaughtUp()
	return j
}

// setTask sets the task of the last n events.
func (j *Journal) setTask(id string, n int) {
	for _, u := range j.Pending[len(j.Pending)-n:] {
		u.Event.Task = id
	}
}

// interruptedTurns returns an interrupted turn, one ended by a server restart and a completed one.
func interruptedTurns() *Journal {
	j := NewJournal()
	j.UserMessage(Ada, "m1", "Go on.")
	j.Add(protocol.ReasoningStart, protocol.PartStartData{Part: "r1"})
	j.Add(protocol.ReasoningDelta, protocol.PartDeltaData{Part: "r1", Text: "Hm."})
	j.Tool("c1", protocol.ToolStartedData{Name: "shell", Title: "sleep 60"}, "waiting\n")
	j.Text("t1", "I was about to")
	j.EndTurn(protocol.ReasonInterrupted)
	j.UserMessage(Bob, "m2", "And now?")
	j.Text("t1", "Now I")
	j.Add(protocol.TurnEnded, protocol.TurnEndedData{
		Reason:  protocol.ReasonError,
		Code:    protocol.CodeServerRestart,
		Message: "the server was restarted",
	})
	j.Turn = ""
	j.UserMessage(Bob, "m3", "Once more.")
	j.Text("t1", "Done.")
	j.EndTurn(protocol.ReasonCompleted)
	j.CaughtUp()
	return j
}

// PlanApproval returns a request for a plan whose text is also its tool's argument.
func PlanApproval() protocol.Approval {
	return protocol.Approval{
		Request: "r1", Tool: "c1", Name: "ExitPlanMode", Kind: protocol.ApprovePlan, Title: "ExitPlanMode",
		Why: "# Two steps\n1. look\n2. change", Input: json.RawMessage(`{"plan":"# Two steps\n1. look\n2. change"}`),
		Options: []protocol.Option{
			{ID: "yes", Kind: protocol.AllowOnce, Label: "Allow"}, {ID: "no", Kind: protocol.Deny, Label: "Deny"},
		},
	}
}

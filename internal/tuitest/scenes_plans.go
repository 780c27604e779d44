package tuitest

import "agentctl/protocol"

func pipelinePlan() *Journal {
	j := NewJournal()
	j.User(Ada, "m1", "Which of our tests are flaky?")
	j.Add(protocol.PlanStarted, protocol.PlanStartedData{Question: "which tests are flaky"})
	tasks := []protocol.Task{{ID: "a", Title: "List the tests"}, {ID: "b", Title: "Run each a hundred times", Description: "With the race detector.", After: []string{"a"}}, {ID: "c", Title: "讀紀錄"}, {ID: "d", Title: "Sum up"}}
	j.Add(protocol.PlanUpdated, protocol.PlanTasksData{Tasks: tasks, Summary: "list, run, read, sum up"})
	j.Task("a", protocol.TaskStarted, protocol.TaskData{})
	j.Say("p1", "There are **212** tests\n", "in 40 packages.")
	j.Out[len(j.Out)-3].Event.Task, j.Out[len(j.Out)-2].Event.Task, j.Out[len(j.Out)-1].Event.Task = "a", "a", "a"
	j.Add(protocol.TextEnd, protocol.PartEndData{Part: "p1"})
	j.Task("a", protocol.TaskCompleted, protocol.TaskData{Result: "212 tests in 40 packages", DurationMS: 1200})
	j.Task("b", protocol.TaskStarted, protocol.TaskData{})
	j.Task("c", protocol.TaskStarted, protocol.TaskData{})
	j.Task("c", protocol.TaskFailed, protocol.TaskData{Message: "no logs"})
	j.Task("c", protocol.TaskRestarted, protocol.TaskData{Attempt: 2})
	j.Task("c", protocol.TaskStarted, protocol.TaskData{Attempt: 2})
	j.Task("b", protocol.TaskProgress, protocol.TaskData{Message: "40 of 212"})
	j.Say("p2", "Running\n", "TestStore …")
	j.Out[len(j.Out)-3].Event.Task, j.Out[len(j.Out)-2].Event.Task, j.Out[len(j.Out)-1].Event.Task = "b", "b", "b"
	j.CaughtUp()
	return j
}

func cutTurns() *Journal {
	j := NewJournal()
	j.User(Ada, "m1", "Go on.")
	j.Add(protocol.ReasoningStart, protocol.PartStartData{Part: "r1"})
	j.Add(protocol.ReasoningDelta, protocol.PartDeltaData{Part: "r1", Text: "Hm."})
	j.Tool("c1", protocol.ToolStartedData{Name: "shell", Title: "sleep 60"}, "waiting\n")
	j.Say("t1", "I was about to")
	j.End(protocol.ReasonInterrupted)
	j.User(Bob, "m2", "And now?")
	j.Say("t1", "Now I")
	j.Add(protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonError, Code: protocol.CodeServerRestart, Message: "the server was restarted"})
	j.Turn = ""
	j.User(Bob, "m3", "Once more.")
	j.Say("t1", "Done.")
	j.End(protocol.ReasonCompleted)
	j.CaughtUp()
	return j
}

package tui

import "agentctl/protocol"

func pipelinePlan() *journal {
	j := newJournal()
	j.user(ada, "m1", "Which of our tests are flaky?")
	j.add(protocol.PlanStarted, protocol.PlanStartedData{Question: "which tests are flaky"})
	tasks := []protocol.Task{{ID: "a", Title: "List the tests"}, {ID: "b", Title: "Run each a hundred times", Description: "With the race detector.", After: []string{"a"}}, {ID: "c", Title: "讀紀錄"}, {ID: "d", Title: "Sum up"}}
	j.add(protocol.PlanUpdated, protocol.PlanTasksData{Tasks: tasks, Summary: "list, run, read, sum up"})
	j.task("a", protocol.TaskStarted, protocol.TaskData{})
	j.say("p1", "There are **212** tests\n", "in 40 packages.")
	j.out[len(j.out)-3].Event.Task, j.out[len(j.out)-2].Event.Task, j.out[len(j.out)-1].Event.Task = "a", "a", "a"
	j.add(protocol.TextEnd, protocol.PartEndData{Part: "p1"})
	j.task("a", protocol.TaskCompleted, protocol.TaskData{Result: "212 tests in 40 packages", DurationMS: 1200})
	j.task("b", protocol.TaskStarted, protocol.TaskData{})
	j.task("c", protocol.TaskStarted, protocol.TaskData{})
	j.task("c", protocol.TaskFailed, protocol.TaskData{Message: "no logs"})
	j.task("c", protocol.TaskRestarted, protocol.TaskData{Attempt: 2})
	j.task("c", protocol.TaskStarted, protocol.TaskData{Attempt: 2})
	j.task("b", protocol.TaskProgress, protocol.TaskData{Message: "40 of 212"})
	j.say("p2", "Running\n", "TestStore …")
	j.out[len(j.out)-3].Event.Task, j.out[len(j.out)-2].Event.Task, j.out[len(j.out)-1].Event.Task = "b", "b", "b"
	j.caughtUp()
	return j
}

func cutTurns() *journal {
	j := newJournal()
	j.user(ada, "m1", "Go on.")
	j.add(protocol.ReasoningStart, protocol.PartStartData{Part: "r1"})
	j.add(protocol.ReasoningDelta, protocol.PartDeltaData{Part: "r1", Text: "Hm."})
	j.tool("c1", protocol.ToolStartedData{Name: "shell", Title: "sleep 60"}, "waiting\n")
	j.say("t1", "I was about to")
	j.end(protocol.ReasonInterrupted)
	j.user(bob, "m2", "And now?")
	j.say("t1", "Now I")
	j.add(protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonError, Code: protocol.CodeServerRestart, Message: "the server was restarted"})
	j.turn = ""
	j.user(bob, "m3", "Once more.")
	j.say("t1", "Done.")
	j.end(protocol.ReasonCompleted)
	j.caughtUp()
	return j
}

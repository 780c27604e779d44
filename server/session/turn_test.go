package session

import (
	"testing"

	"agentctl/protocol"
)

func TestATurnThatIsCutOffEndsTheTasksThatRun(t *testing.T) {
	for _, c := range []struct {
		cut  func(r *rig, id string)
		want string
	}{
		{func(r *rig, id string) { r.do(anna, command(protocol.DoInterrupt, id, protocol.InterruptData{})) }, protocol.StatusCancelled},
		{func(r *rig, _ string) {
			r.agents.run().finish(End{Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed, Message: "gone"}, nil)
		}, protocol.StatusFailed},
		{func(r *rig, _ string) { r.agents.run().finish(End{}, nil) }, protocol.StatusRunning},
	} {
		bubble(t, Config{}, func(t *testing.T, r *rig) {
			id := r.create()
			r.send(id, "plan it")
			r.agents.run().say(
				Event{Type: protocol.PlanStarted, Data: protocol.PlanStartedData{}},
				Event{Type: protocol.PlanUpdated, Data: protocol.PlanTasksData{Tasks: []protocol.Task{{ID: "a"}, {ID: "b"}, {ID: "c"}}}},
				Event{Type: protocol.TaskStarted, Task: "a", Data: protocol.TaskData{Task: "a"}},
				Event{Type: protocol.TaskStarted, Task: "b", Data: protocol.TaskData{Task: "b"}},
				Event{Type: protocol.TaskCompleted, Task: "a", Data: protocol.TaskData{Task: "a"}},
			)
			r.settle()
			c.cut(r, id)
			r.settle()
			tasks := r.state(id).Plan.Tasks
			if tasks[0].Status != protocol.StatusCompleted || tasks[1].Status != c.want || tasks[2].Status == protocol.StatusRunning {
				t.Errorf("%s: %+v", c.want, tasks)
			}
		})
	}
}

package session

import (
	"context"
	"testing"

	"agentctl/protocol"
	"agentctl/server/agent"
)

func TestATaskOfAPlanThatIsOverIsRestartedByAMessage(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		r.agents.capable = func(_ context.Context, what string) error {
			return protocol.Errorf(protocol.CodeNotFound, "no tasks are running: %s", what)
		}
		r.agents.capabilities = agent.Capabilities{RunsPlans: true, ContinuesPlans: true}
		id := r.create()
		restart := func(task string) *testCall {
			return r.do(anna, newCommand(protocol.DoTaskRestart, id, protocol.TaskIDData{Task: task}))
		}
		refused(r, restart("a"), protocol.CodeNotFound)
		plan := protocol.PlanRunData{Question: "why", Tasks: []protocol.Task{
			{ID: "a", Title: "A"}, {ID: "b", Title: "B"}, {ID: "c", Title: "C"}, {ID: "d", Title: "D"},
		}}
		must[protocol.SendResult](r, r.do(anna, newCommand(protocol.DoPlanRun, id, plan)))
		run := r.agents.run()
		emit := func(typ protocol.Type, data any) {
			t.Helper()
			if err := run.out.Emit(agent.Event{Type: typ, Data: data}); err != nil {
				t.Fatal(err)
			}
		}
		emit(protocol.PlanStarted, protocol.PlanStartedData{Question: "why"})
		emit(protocol.PlanCompleted, protocol.PlanTasksData{Tasks: plan.Tasks})
		for _, task := range []string{"a", "b", "c"} {
			emit(protocol.TaskStarted, protocol.TaskData{Task: task})
		}
		emit(protocol.TaskCompleted, protocol.TaskData{Task: "a"})
		emit(protocol.TaskFailed, protocol.TaskData{Task: "b"})
		refused(r, restart("b"), protocol.CodeNotFound) // by the agent: the turn is not over
		run.finish(agent.End{}, nil)
		r.waitIdle()

		refused(r, restart("x"), protocol.CodeNotFound)
		must[protocol.Empty](r, restart("b"))
		turn := r.agents.run().turn
		if turn.Message.Text != "Restart the task B" || turn.Plan == nil || turn.Plan.Question != "why" {
			t.Fatalf("the agent got %+v", turn)
		}
		for i, want := range []string{"completed", "pending", "pending", "pending"} {
			if got := turn.Plan.Tasks[i].Status; got != want {
				t.Errorf("task %s is %s, want %s", turn.Plan.Tasks[i].ID, got, want)
			}
		}
	})
}

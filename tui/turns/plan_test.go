package turns

import (
	"testing"
	"time"

	"agentctl/protocol"
)

// The plan keeps the times, attempts and results of its tasks when the agent sends its tasks again.
func TestPlanKeepsWhatTheStateLacks(t *testing.T) {
	u := &Turns{}
	at := time.Unix(100, 0)
	for _, e := range []*protocol.Event{
		event("t1", protocol.MessageUser, protocol.MessageUserData{}),
		event("t1", protocol.TurnStarted, protocol.TurnStartedData{}),
		event("t1", protocol.PlanStarted, protocol.PlanStartedData{Question: "q"}),
		event("t1", protocol.PlanUpdated, protocol.PlanTasksData{Tasks: []protocol.Task{{ID: "a", Title: "A"}}}),
		event("t1", protocol.TaskStarted, protocol.TaskData{Task: "a", Attempt: 2}),
		event("t1", protocol.TaskCompleted, protocol.TaskData{Task: "a", Result: "done"}),
		event("t1", protocol.PlanUpdated, protocol.PlanTasksData{
			Tasks: []protocol.Task{{ID: "a", Title: "A"}, {ID: "b", Title: "B"}}, Summary: "s",
		}),
		event("t1", protocol.PlanFailed, protocol.PlanErrorData{Message: "no"}),
	} {
		at = at.Add(time.Second)
		e.Time = at
		apply(t, u, e)
		if stale := e.Type == protocol.TurnStarted; u.PlanStale() != stale {
			t.Errorf("after %s: stale is %v, want %v", e.Type, !stale, stale)
		}
	}
	p := u.Plan()
	a := p.Task("a")
	if p.Title != "s" || p.Phase != protocol.PlanFailed || !p.Failed || p.Error.Message != "no" || len(p.Tasks) != 2 {
		t.Errorf("plan %+v", p)
	}
	if a.Status != protocol.StatusCompleted || a.Attempt != 2 || a.Result != "done" || a.Worked() != time.Second {
		t.Errorf("task %+v takes %s", a, a.Worked())
	}
	apply(t, u, event("t1", protocol.TurnEnded, protocol.TurnEndedData{}))
	if u.Plan() != nil {
		t.Error("the plan is current after its turn")
	}
}

func event(turn string, t protocol.Type, data any) *protocol.Event {
	return &protocol.Event{Seq: 1, Turn: turn, Type: t, Data: protocol.MustEncode(data)}
}

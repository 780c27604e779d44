package script

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"agentctl/protocol"
	"agentctl/server/agent"
)

const twoTasks = `{"plan":"Q","summary":"S","parallel":1,"tasks":[` +
	`{"id":"a","title":"A","steps":[{"say":"doing"},{"progress":"half"}],"result":"ra"},` +
	`{"id":"b","title":"B","after":["a"],"steps":[{"tool":"t"}],"result":"rb"}],"aggregate":"sum"}`

func TestAPlanIsSolvedTaskByTaskAndSummedUp(t *testing.T) {
	st, end, err := runScript(t, twoTasks)
	wantEvents(t, st, "plan.started", "plan.updated", "plan.completed",
		"task.started [a]", "text.start [a]", "text.delta [a] doing", "text.end [a]", "task.progress [a] half",
		"task.completed [a] ra",
		"task.started [b]", "tool.started [b]", "tool.ended [b] completed", "task.completed [b] rb",
		"aggregate.started", "text.start", "text.delta sum", "text.end", "aggregate.completed sum",
		"pipeline.completed sum")
	if err != nil || end.Reason != protocol.ReasonCompleted {
		t.Errorf("%+v, %v", end, err)
	}
}

func TestPartsOfTasksHaveNamesOfTheirOwn(t *testing.T) {
	st, _, _ := runScript(t, `{"plan":"","tasks":[{"id":"a","title":"A"},{"id":"b","title":"B"}]}`)
	seen := map[string]bool{}
	for _, e := range st.events {
		if d, ok := e.Data.(protocol.PartStartData); ok {
			if seen[d.Part] {
				t.Errorf("%s twice", d.Part)
			}
			seen[d.Part] = true
		}
	}
	if len(seen) != 3 {
		t.Errorf("%v", seen)
	}
}

func TestAConfirmedPlanIsSolvedAsEdited(t *testing.T) {
	a, st := open(t, parse(t, `{"on":"*"}`,
		strings.Replace(twoTasks, `"parallel"`, `"confirm":true,"explain":"why not","parallel"`, 1)), nil)
	st.decide = func(req protocol.Approval) agent.Verdict {
		if req.Kind != protocol.ApprovePlan || len(req.Tasks) != 2 || req.Tasks[0].Status != protocol.StatusPending {
			t.Errorf("%+v", req)
		}
		return agent.Verdict{Outcome: protocol.Allowed, Decision: protocol.AllowOnce, Input: &protocol.ApprovalInput{
			Tasks: []protocol.Task{{ID: "b", Title: "B2"}, {ID: "c", Title: "C", After: []string{"b"}}},
		}}
	}
	if _, err := a.Run(t.Context(), newTurn(1, ""), st); err != nil {
		t.Fatal(err)
	}
	wantEvents(t, st, "plan.started", "plan.updated", "plan.completed",
		"task.started [b]", "tool.started [b]", "tool.ended [b] completed", "task.completed [b] rb",
		"task.started [c]", "text.start [c]", "text.delta [c] C: ", "text.delta [c] done.", "text.end [c]",
		"task.completed [c] done",
		"aggregate.started", "text.start", "text.delta sum", "text.end", "aggregate.completed sum",
		"pipeline.completed sum")
}

func TestADeniedPlanIsCancelledOrMadeAgain(t *testing.T) {
	a, st := open(t, parse(t, `{"on":"*"}`,
		strings.Replace(twoTasks, `"parallel"`, `"confirm":true,"else":[{"say":"well"}],"parallel"`, 1)), nil)
	verdicts := []agent.Verdict{
		{
			Outcome: protocol.Denied, Decision: protocol.Deny, Reason: "shorter",
			Input: &protocol.ApprovalInput{Replan: true},
		},
		{Outcome: protocol.Denied, Decision: protocol.Deny, Reason: "no"},
	}
	st.decide = func(protocol.Approval) agent.Verdict {
		v := verdicts[0]
		verdicts = verdicts[1:]
		return v
	}
	if _, err := a.Run(t.Context(), newTurn(1, ""), st); err != nil {
		t.Fatal(err)
	}
	wantEvents(t, st, "plan.started", "plan.updated", "plan.started", "plan.updated", "plan.cancelled no",
		"text.start", "text.delta well", "text.end")
	if s := st.events[3].Data.(protocol.PlanTasksData).Summary; s != "Planned again: shorter" {
		t.Error(s)
	}
}

func TestGivenTasksAreSolvedWithoutPlanning(t *testing.T) {
	a, st := open(t, parse(t, `{"on":"never"}`, twoTasks), nil)
	turn := newTurn(1, "")
	turn.Plan = &protocol.PlanRunData{Question: "G", Tasks: []protocol.Task{{ID: "b", Title: "B"}}}
	if _, err := a.Run(t.Context(), turn, st); err != nil {
		t.Fatal(err)
	}
	wantEvents(t, st, "plan.started", "plan.completed", "task.started [b]", "tool.started [b]",
		"tool.ended [b] completed", "task.completed [b] rb",
		"aggregate.started", "text.start", "text.delta B: ", "text.delta rb", "text.end", "aggregate.completed B: rb",
		"pipeline.completed B: rb")
}

func TestAFailedTaskCancelsItsDependents(t *testing.T) {
	st, end, err := runScript(t, `{"plan":"Q","tasks":[{"id":"a","title":"A","steps":[{"fail":"broke","code":"timeout"}]},`+
		`{"id":"b","title":"B","after":["a"]},{"id":"c","title":"C","after":["b"]}]}`)
	wantEvents(t, st, "plan.started", "plan.updated", "plan.completed", "task.started [a]", "task.failed [a] broke",
		"task.cancelled [b] A was not completed", "task.cancelled [c] B was not completed",
		"plan.failed no task was completed")
	if err != nil || end.Reason != protocol.ReasonCompleted {
		t.Errorf("%+v, %v", end, err)
	}
}

func TestTasksWithCyclicDependenciesAreCancelled(t *testing.T) {
	st, _, _ := runScript(t, `{"plan":"Q","tasks":[{"id":"a","title":"A","after":["b"]},{"id":"b","title":"B","after":["a"]}]}`)
	if got := st.eventLines(); !slices.Contains(got, "task.cancelled [a] cyclic dependency") ||
		got[len(got)-1] != "plan.failed no task was completed" {
		t.Errorf("%v", got)
	}
}

func TestTasksAreCancelledAndRestarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, st := open(t, parse(t, `{"on":"*"}`, `{"plan":"Q","aggregate":"sum","tasks":[{"id":"a","title":"A","steps":[{"sleep":"1s"}]},`+
			`{"id":"b","title":"B","steps":[{"sleep":"1s"}]},{"id":"c","title":"C","after":["a"],"steps":[{"sleep":"1s"}]}]}`), nil)
		keeper := a.(agent.TaskController)
		if err := keeper.CancelTask(t.Context(), "a"); protocol.CodeOf(err) != protocol.CodeNotFound {
			t.Errorf("without a plan: %v", err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = a.Run(t.Context(), newTurn(1, ""), st)
		}()
		synctest.Wait()
		if err := keeper.CancelTask(t.Context(), "x"); protocol.CodeOf(err) != protocol.CodeNotFound {
			t.Errorf("an unknown task: %v", err)
		}
		if err := keeper.RestartTask(t.Context(), "a"); err != nil {
			t.Error(err)
		}
		if err := keeper.CancelTask(t.Context(), "b"); err != nil {
			t.Error(err)
		}
		if err := keeper.CancelTask(t.Context(), "c"); err != nil {
			t.Error(err)
		}
		if err := keeper.RestartTask(t.Context(), "c"); err != nil {
			t.Error(err)
		}
		if err := keeper.CancelTask(t.Context(), "b"); protocol.CodeOf(err) != protocol.CodeNotFound {
			t.Errorf("cancelled twice: %v", err)
		}
		<-done
		for id, lines := range map[string][]string{
			"a": {"task.started", "task.restarted", "task.started", "task.completed"},
			"b": {"task.started", "task.cancelled"},
			"c": {"task.cancelled", "task.restarted", "task.started", "task.completed"},
		} {
			var got []string
			for _, e := range st.events {
				if e.Task == id {
					got = append(got, string(e.Type))
				}
			}
			if !slices.Equal(got, lines) {
				t.Errorf("%s: %v", id, got)
			}
		}
		if got := st.eventLines(); got[len(got)-1] != "pipeline.completed sum" {
			t.Errorf("%v", got)
		}
	})
}

func TestAnInterruptEndsAllTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, end, err := runScript(t, `{"plan":"Q","tasks":[{"id":"a","title":"A","steps":[{"end":"refusal"}]},{"id":"b","title":"B","steps":[{"sleep":"1h"}]}]}`)
		if err != nil || end.Reason != protocol.ReasonRefusal {
			t.Errorf("%+v, %v, %v", end, err, st.eventLines())
		}
	})
}

package session

import (
	"testing"
	"time"

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

func TestWhatIsOpenEndsWithTheTurnAsItEnds(t *testing.T) {
	for reason, status := range map[protocol.Reason]protocol.ToolStatus{
		protocol.ReasonInterrupted: protocol.ToolCancelled, protocol.ReasonDenied: protocol.ToolCancelled,
		protocol.ReasonError: protocol.ToolUnknown, protocol.ReasonCompleted: protocol.ToolUnknown,
	} {
		bubble(t, Config{}, func(t *testing.T, r *rig) {
			id := r.create()
			sent := r.send(id, "go")
			run := r.agents.run()
			time.Sleep(1500 * time.Millisecond)
			run.say(
				Event{Type: protocol.TextDelta, Task: "k", Data: protocol.PartDeltaData{Part: "p", Text: "x"}},
				Event{Type: protocol.TextDelta, Task: "k", Data: protocol.PartDeltaData{Part: "p", Text: "y"}},
				Event{Type: protocol.ReasoningDelta, Data: protocol.PartDeltaData{Part: "r", Text: "x"}},
				Event{Type: protocol.ToolOutput, Task: "k", Parent: "up", Data: protocol.ToolOutputData{Tool: "t", Text: "x"}},
			)
			switch reason {
			case protocol.ReasonInterrupted:
				r.do(anna, command(protocol.DoInterrupt, id, protocol.InterruptData{}))
			case protocol.ReasonDenied:
				run.ask(protocol.Approval{Request: "q", Kind: protocol.ApproveQuestion})
				r.settle()
				r.do(bert, approve(id, protocol.ApproveData{Decision: protocol.DenyStop}))
			default:
				run.finish(End{Reason: reason, Usage: &protocol.Usage{Input: 3}}, nil)
			}
			r.settle()
			ends := map[protocol.Type]protocol.Event{}
			starts := map[protocol.Type]int{}
			for _, e := range r.events(id, false) {
				ends[e.Type] = e
				starts[e.Type]++
			}
			if starts[protocol.TextStart] != 1 || starts[protocol.ReasoningStart] != 1 || starts[protocol.ToolStarted] != 1 {
				t.Errorf("%s: started %v", reason, starts)
			}
			var tool protocol.ToolEndedData
			e := ends[protocol.ToolEnded]
			if _ = e.Decode(&tool); tool.Tool != "t" || tool.Status != status || e.Task != "k" || e.Parent != "up" {
				t.Errorf("%s: tool %+v of %s, %s", reason, tool, e.Task, e.Parent)
			}
			if e := ends[protocol.TextEnd]; e.Task != "k" || e.Seq == 0 || ends[protocol.ReasoningEnd].Seq == 0 {
				t.Errorf("%s: text %+v", reason, e)
			}
			var end protocol.TurnEndedData
			e = ends[protocol.TurnEnded]
			if _ = e.Decode(&end); end.DurationMS != 1500 {
				t.Errorf("%s: took %d ms", reason, end.DurationMS)
			}
			if end.Reason != reason || (e.By != nil) != (status == protocol.ToolCancelled) || (end.Usage != nil) != (e.By == nil) {
				t.Errorf("%s: ended %s by %v, %+v", reason, end.Reason, e.By, end.Usage)
			}
			rows, err := r.store.Turns(t.Context(), id, 0, 9)
			if err != nil || len(rows) != 1 || rows[0].Reason != string(reason) || rows[0].Turn != sent.Turn || rows[0].MessageID != sent.MessageID ||
				rows[0].Last != e.Seq || rows[0].First >= e.Seq || !rows[0].Ended.Equal(e.Time) {
				t.Errorf("%s: rows %+v, %v", reason, rows, err)
			}
		})
	}
}

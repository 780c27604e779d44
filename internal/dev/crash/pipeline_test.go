//go:build linux && crash

package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentctl/internal/dev/testbinary"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// pipelineTasks is the number of tasks of the plan.
const pipelineTasks = 8

// A server is killed at random moments while a pipeline solves tasks. After each start a restart of
// a task continues the plan. No completed task is repeated, no result is lost.
func TestAKilledServerKeepsTheResultsOfAPipeline(t *testing.T) {
	s := &testbinary.Server{T: t, Dir: t.TempDir()}
	writePipeline(t, s.Dir)
	t.Cleanup(s.KillAll)
	s.Start()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	rng := rand.New(rand.NewPCG(3, 1))
	client := wsclient.New(s.URL, wsclient.Options{Name: "ann"})
	defer client.Close()
	tr := &trial{Server: s, client: client, rng: rng}
	id := must[protocol.CreateResult](ctx, tr, protocol.DoCreate, "", protocol.CreateData{
		Agent: "team", Prompt: "do it",
	}).Session
	kills := 0
	for ; kills < 6; kills++ {
		pause(ctx, time.Duration(rng.IntN(120))*time.Millisecond)
		s.Kill()
		s.Start()
		state := must[protocol.SnapshotResult](ctx, tr, protocol.DoSnapshot, id, nil).Snapshot.State
		if state.Turn == nil {
			tr.continuePlan(ctx, id, state.Plan)
		}
	}
	for ctx.Err() == nil {
		r := must[protocol.SnapshotResult](ctx, tr, protocol.DoSnapshot, id, nil)
		if r.Status == protocol.Idle {
			break
		}
		pause(ctx, 20*time.Millisecond)
	}
	state := must[protocol.SnapshotResult](ctx, tr, protocol.DoSnapshot, id, nil).Snapshot.State
	if state.Last.Reason != protocol.ReasonCompleted {
		t.Errorf("ended %+v", state.Last)
	}
	checkPipeline(t, tr.readLog(ctx, id, state.Seq))
	t.Logf("%d kills, %d turns", kills, state.Turns)
	s.Stop()
}

// continuePlan restarts the first task that was not completed, or sends the message again if there
// is no plan yet.
func (tr *trial) continuePlan(ctx context.Context, id string, p *protocol.Plan) {
	if p == nil || len(p.Tasks) == 0 {
		must[protocol.SendResult](ctx, tr, protocol.DoSend, id, protocol.SendData{Text: "do it", Front: true})
		return
	}
	task := p.Tasks[0].ID
	for _, t := range p.Tasks {
		if t.Status != protocol.StatusCompleted {
			task = t.ID
			break
		}
	}
	must[protocol.Empty](ctx, tr, protocol.DoTaskRestart, id, protocol.TaskIDData{Task: task})
}

// writePipeline writes the configuration of a pipeline without confirmation and its agents.
func writePipeline(t *testing.T, dir string) {
	t.Helper()
	var tasks []map[string]any
	var solver strings.Builder
	for n := 1; n <= pipelineTasks; n++ {
		task := map[string]any{"id": n, "title": fmt.Sprint("task ", n)}
		if n > 4 {
			task["depends_on"] = []int{n - 4}
		}
		tasks = append(tasks, task)
		fmt.Fprintf(&solver, "{\"on\":\"Your task: task %d\"}\n{\"sleep\":\"40ms\"}\n{\"say\":\"result-%d\"}\n", n, n)
	}
	plan := string(protocol.MustEncode(string(protocol.MustEncode(tasks))))
	for name, text := range map[string]string{
		"planner.script": "{\"on\":\"*\"}\n{\"say\":" + plan + "}", "solver.script": solver.String(),
		"aggregator.script": `{"on":"*"}` + "\n" + `{"say":"{message}"}`,
		"config": `{"agents": {"planner": {"script": "planner.script"}, "solver": {"script": "solver.script"},
			"aggregator": {"script": "aggregator.script"}, "team": {"pipeline": {"planner": "planner",
			"solver": "solver", "aggregator": "aggregator", "parallel": 2, "confirm": false}}}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// checkPipeline checks that no completed task of a plan starts again, and that the answer has all
// results.
func checkPipeline(t *testing.T, log []string) {
	t.Helper()
	completed, chosen := map[string]int{}, map[string]bool{}
	ends, answer := 0, ""
	for _, line := range log {
		var e protocol.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		switch e.Type {
		case protocol.MessageUser:
			clear(chosen)
			if strings.Contains(line, "do it") && !strings.Contains(line, "Restart the task") {
				clear(completed) // a new plan
			}
			for n := 1; n <= pipelineTasks; n++ {
				chosen[fmt.Sprint(n)] = strings.Contains(line, fmt.Sprintf(`"Restart the task task %d"`, n))
			}
		case protocol.TaskStarted:
			if completed[e.Task] > 0 && !chosen[e.Task] {
				t.Errorf("the completed task %s starts again: %s", e.Task, line)
			}
		case protocol.TaskCompleted:
			completed[e.Task]++
		case protocol.PipelineCompleted:
			ends++
		case protocol.TurnStarted:
			answer = ""
		case protocol.TextDelta:
			var d protocol.PartDeltaData
			if _ = e.Decode(&d); e.Task == "" {
				answer += d.Text
			}
		}
	}
	if len(completed) != pipelineTasks || ends == 0 {
		t.Errorf("completed %v, %d pipelines", completed, ends)
	}
	for n := 1; n <= pipelineTasks; n++ {
		if !strings.Contains(answer, fmt.Sprint("result-", n)) {
			t.Errorf("the answer lacks the result of task %d: %s", n, answer)
		}
	}
}

//go:build linux

package crash

import (
	"context"
	"encoding/json"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"agentctl/protocol"
)

// A server is killed or stopped at random moments while two solvers with a model work on tasks. The turn
// continues after each start: no command runs twice, no text is doubled, no task starts again.
func TestAKilledServerContinuesTheSolversOfAPipeline(t *testing.T) {
	t.Parallel()
	tr := newModelTrial(t, 11)
	tr.Start()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	following, leave := context.WithCancel(ctx)
	var live sync.WaitGroup
	defer live.Wait()
	defer leave()
	tr.client = tr.connect("driver")
	defer tr.client.Close()
	work := filepath.Join(tr.Dir, "work")
	id := must[protocol.CreateResult](ctx, tr, protocol.DoCreate, "", protocol.CreateData{Agent: "team", CWD: work}).Session
	approver := tr.connect("approver")
	defer approver.Close()
	r := &recorder{session: id}
	live.Go(func() { r.follow(following, approver, func(e *protocol.Event) { allow(following, t, approver, e) }) })
	must[protocol.SendResult](ctx, tr, protocol.DoPlanRun, id, protocol.PlanRunData{Question: "all", Tasks: []protocol.Task{
		{ID: "a", Title: "first", Description: "do step-1"},
		{ID: "b", Title: "second", Description: "do step-2"},
		{ID: "c", Title: "third", Description: "do step-3", After: []string{"a"}},
	}})
	for n := range modelKills + 1 {
		pause(ctx, time.Duration(20+tr.rng.IntN(200))*time.Millisecond)
		if n%3 == 1 {
			tr.Stop()
		} else {
			tr.Kill()
		}
		tr.Start()
	}
	tr.waitTurn(ctx, id, 0)
	end := must[protocol.SnapshotResult](ctx, tr, protocol.DoSnapshot, id, nil).Snapshot.State
	log := tr.readLog(ctx, id, end.Seq)
	leave()
	live.Wait()
	checkModel(t, log, filepath.Join(work, "ran"))
	events := map[string]int{}
	for _, line := range log {
		var e protocol.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		switch e.Type {
		case protocol.TaskStarted, protocol.TaskCompleted, protocol.PipelineCompleted:
			events[string(e.Type)+e.Task]++
		}
	}
	for event, n := range events {
		if n != 1 {
			t.Errorf("%d events %s", n, event)
		}
	}
	if len(events) != 7 {
		t.Errorf("events %v", events)
	}
	tr.Stop()
}

package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// A randomPlan is a plan whose tasks take time and may fail, and the actions of users while it
// runs.
type randomPlan struct {
	tasks     []protocol.Task
	takes     []time.Duration
	fails     []bool // at the first attempt
	parallel  int
	timeout   time.Duration // of a task; 0: none
	interrupt time.Duration // 0: none
	actions   []randomAction
}

type randomAction struct {
	at      time.Duration
	task    string
	restart bool
}

func drawPlan(t *rapid.T) *randomPlan {
	n := rapid.IntRange(1, 12).Draw(t, "tasks")
	minutes := func(name string, least int) time.Duration {
		return time.Duration(rapid.IntRange(least, 30).Draw(t, name))*time.Minute + time.Second
	}
	p := &randomPlan{parallel: rapid.IntRange(1, 5).Draw(t, "parallel")}
	for i := range n {
		task := protocol.Task{ID: fmt.Sprint(i), Title: fmt.Sprintf("task %d", i)}
		for j := range i {
			if rapid.IntRange(0, 3).Draw(t, "depends") == 0 {
				task.After = append(task.After, fmt.Sprint(j))
			}
		}
		p.tasks = append(p.tasks, task)
		p.takes = append(p.takes, minutes("takes", 0))
		p.fails = append(p.fails, rapid.IntRange(0, 5).Draw(t, "fails") == 0)
	}
	p.tasks = rapid.Permutation(p.tasks).Draw(t, "order")
	for range rapid.IntRange(0, 8).Draw(t, "actions") {
		p.actions = append(p.actions, randomAction{
			minutes("at", 0) * 2, fmt.Sprint(rapid.IntRange(0, n).Draw(t, "of")), rapid.Bool().Draw(t, "restart"),
		})
	}
	if rapid.Bool().Draw(t, "interrupted") {
		p.interrupt = minutes("interrupt", 0) * 2
	}
	if rapid.Bool().Draw(t, "limited") {
		p.timeout = minutes("timeout", 1)
	}
	return p
}

// act solves a task of the plan.
func (p *randomPlan) act(ctx context.Context, s *step) (agent.End, error) {
	if s.role == "aggregator" {
		s.say("all done")
		return agent.End{}, nil
	}
	i := slices.IndexFunc(p.tasks, func(t protocol.Task) bool { return t.Title == s.task })
	_ = s.out.Emit(agent.Event{Type: protocol.ToolStarted, Data: protocol.ToolStartedData{Tool: "t", Name: "t"}})
	if err := wait(ctx, p.takes[i]); err != nil {
		return agent.End{}, err
	}
	if p.fails[i] {
		p.fails[i] = false // restarted, it succeeds
		return agent.End{}, errors.New("no luck")
	}
	s.say("done")
	return agent.End{}, nil
}

// A legality checks the order of events.
type legality struct {
	parallel int
	tasks    map[string]*protocol.Task
	problems []string
}

var legalFrom = map[protocol.Type][]string{
	protocol.TaskStarted:   {protocol.StatusPending},
	protocol.TaskCompleted: {protocol.StatusRunning},
	protocol.TaskFailed:    {protocol.StatusRunning},
	protocol.TaskCancelled: {protocol.StatusRunning, protocol.StatusPending},
	protocol.TaskRestarted: {
		protocol.StatusRunning, protocol.StatusCompleted, protocol.StatusFailed, protocol.StatusCancelled,
	},
}

func (l *legality) see(e agent.Event) {
	d, ok := e.Data.(protocol.TaskData)
	if !ok {
		return
	}
	t := l.tasks[d.Task]
	if !slices.Contains(legalFrom[e.Type], t.Status) {
		l.problems = append(l.problems, fmt.Sprintf("%s of task %s, which is %s", e.Type, t.ID, t.Status))
	}
	t.Status = map[protocol.Type]string{
		protocol.TaskStarted: protocol.StatusRunning, protocol.TaskCompleted: protocol.StatusCompleted,
		protocol.TaskFailed: protocol.StatusFailed, protocol.TaskCancelled: protocol.StatusCancelled,
		protocol.TaskRestarted: protocol.StatusPending,
	}[e.Type]
	running := 0
	for _, other := range l.tasks {
		if other.Status == protocol.StatusRunning {
			running++
		}
	}
	if running > l.parallel {
		l.problems = append(l.problems, fmt.Sprintf("%d tasks run concurrently", running))
	}
	for _, id := range t.After {
		if e.Type == protocol.TaskStarted && l.tasks[id].Status != protocol.StatusCompleted {
			l.problems = append(l.problems, fmt.Sprintf("task %s started before %s", t.ID, id))
		}
	}
}

// run runs the plan and returns the problems.
func (p *randomPlan) run(t *testing.T) []string {
	r := newRig(t, p.act)
	r.options.Config.Parallel = p.parallel
	r.options.Config.Limits.Task.Time = Duration(p.timeout)
	legal := &legality{parallel: p.parallel, tasks: map[string]*protocol.Task{}}
	for _, task := range p.tasks {
		task.Status = protocol.StatusPending
		legal.tasks[task.ID] = &task
	}
	r.onEmit = func(e agent.Event) { r.mu.Lock(); defer r.mu.Unlock(); legal.see(e) }
	r.open()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if p.interrupt > 0 {
		time.AfterFunc(p.interrupt, cancel)
	}
	for _, a := range p.actions {
		time.AfterFunc(a.at, func() {
			act := r.agent.CancelTask
			if a.restart {
				act = r.agent.RestartTask
			}
			if err := act(context.Background(), a.task); err != nil && protocol.CodeOf(err) != protocol.CodeNotFound {
				r.problem("action %+v: %v", a, err)
			}
		})
	}
	end, err := r.plan(ctx, p.tasks...)
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return append(append(r.problems, legal.problems...), p.checkEnd(r, legal, end, err)...)
}

// checkEnd returns the problems at the end of the turn.
func (p *randomPlan) checkEnd(r *rig, legal *legality, end agent.End, err error) (problems []string) {
	add := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	completed := 0
	for _, t := range legal.tasks {
		switch t.Status {
		case protocol.StatusCompleted:
			completed++
		case protocol.StatusRunning:
			add("task %s still runs", t.ID)
		case protocol.StatusPending:
			if end.Reason != protocol.ReasonInterrupted {
				add("task %s never ran", t.ID)
			}
		}
	}
	last := r.events[len(r.events)-1].Type
	switch {
	case end.Reason == protocol.ReasonInterrupted:
	case completed == 0 && (err == nil || last != protocol.PlanFailed):
		add("no task was completed: %v, %s", err, last)
	case completed > 0 && (err != nil || last != protocol.PipelineCompleted):
		add("ended with %v, %s", err, last)
	}
	r.mu.Unlock()
	s := r.state()
	r.mu.Lock()
	saved, _ := decodeState(r.saved)
	for i, t := range s.Plan.Tasks {
		if t.Status != legal.tasks[t.ID].Status || t.Status != saved.Tasks[i].Status {
			add("task %s is %s in the log, %s in the saved state", t.ID, t.Status, saved.Tasks[i].Status)
		}
	}
	if len(s.Turn.Tools)+len(s.Turn.Parts) > 0 {
		add("left open: %+v", s.Turn)
	}
	return problems
}

func TestEveryScheduleIsLegal(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt)
		var problems []string
		synctest.Test(t, func(t *testing.T) { problems = p.run(t) })
		if len(problems) > 0 {
			rt.Fatalf("%q", problems)
		}
	})
}

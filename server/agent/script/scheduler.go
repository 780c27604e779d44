package script

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/schedule"
)

const defaultParallel = 3

// A scheduler is the Solver of a plan's schedule. The goroutine of solve owns the tasks.
type scheduler struct {
	*runner
	tasks    []*task
	parallel int
}

var _ schedule.Solver = (*scheduler)(nil)

// A task is a task of the plan. While it runs, its goroutine owns its runner.
type task struct {
	schedule.Task
	steps   steps
	output  string // the result, with variables
	attempt int
	result  string
	runner  *runner
	ended   attemptResult // written by its work, read by End
}

// An attemptResult is the result of an attempt. The status is empty when the attempt was stopped.
type attemptResult struct {
	status string
	result string
	err    error // ends the turn
}

// newScheduler returns a scheduler for tasks with their progress before a restart.
func (r *runner) newScheduler(tasks []taskSpec, limit int) *scheduler {
	s := &scheduler{runner: r, parallel: cmp.Or(limit, defaultParallel)}
	for _, spec := range tasks {
		progress := r.prior.Tasks[spec.ID]
		spec.Status = cmp.Or(progress.Status, protocol.StatusPending)
		if spec.Steps == nil {
			spec.Steps = steps{&say{Text: spec.Title + ": done."}}
		}
		t := &task{
			Task: schedule.Task{Task: spec.Task}, steps: spec.Steps, output: spec.Result,
			attempt: max(1, progress.Attempt), result: progress.Result,
		}
		s.prepare(t)
		s.tasks = append(s.tasks, t)
	}
	return s
}

// prepare creates the runner of the current attempt.
func (s *scheduler) prepare(t *task) {
	key := fmt.Sprintf("%s/%d", t.ID, t.attempt)
	t.runner = s.turnRun.newRunner(key, t.ID, s.prior.Emitted[key])
}

// solve runs the tasks until all have ended. It returns after all its goroutines.
func (s *scheduler) solve(ctx context.Context) error {
	tasks := make([]*schedule.Task, len(s.tasks))
	for i, t := range s.tasks {
		tasks[i] = &t.Task
	}
	running := schedule.New(tasks, s)
	s.agent.schedule.Store(running)
	defer s.agent.schedule.Store(nil)
	return running.Run(ctx)
}

// Parallel implements schedule.Solver.
func (s *scheduler) Parallel() int { return s.parallel }

// Start implements schedule.Solver.
func (s *scheduler) Start(ctx context.Context, i int) (work func(attempt context.Context), err error) {
	t := s.tasks[i]
	return func(attempt context.Context) { t.ended = t.run(ctx, attempt) }, nil
}

// run makes one attempt. ctx ends with the turn. attempt also ends when a request stops it.
func (t *task) run(ctx, attempt context.Context) attemptResult {
	r := t.runner
	started := taskEvent(protocol.TaskStarted, protocol.TaskData{Task: t.ID, Title: t.Title, Attempt: t.attempt})
	if err := r.emit(ctx, started); err != nil {
		return attemptResult{err: err}
	}
	err := t.steps.run(attempt, r)
	var failure *protocol.Error
	end := attemptResult{status: protocol.StatusFailed}
	switch {
	case ctx.Err() != nil:
		return attemptResult{err: ctx.Err()}
	case attempt.Err() != nil:
		return attemptResult{}
	case err == nil:
		end.status, end.result = protocol.StatusCompleted, cmp.Or(r.expand(t.output), "done")
	case !errors.As(err, &failure):
		return attemptResult{err: err}
	}
	end.err = t.emitEnd(ctx, end.status, end.result, failure)
	return end
}

// emitEnd emits the end of the task and saves its progress.
func (t *task) emitEnd(ctx context.Context, status, result string, failure *protocol.Error) error {
	data := protocol.TaskData{Task: t.ID, Title: t.Title, Attempt: t.attempt}
	typ := protocol.TaskCompleted
	switch status {
	case protocol.StatusCompleted:
		data.Result = result
	case protocol.StatusFailed:
		typ = protocol.TaskFailed
	case protocol.StatusCancelled:
		typ = protocol.TaskCancelled
	}
	if failure != nil {
		data.Message, data.Code = failure.Message, failure.Code
	}
	n := taskProgress{Attempt: t.attempt, Status: status, Result: result}
	return t.runner.emit(ctx, taskEvent(typ, data), t.saveProgress(n))
}

func (t *task) saveProgress(n taskProgress) func(*agentState) {
	return func(s *agentState) {
		if s.Turn != nil {
			s.Turn.Tasks[t.ID] = n
		}
	}
}

// End implements schedule.Solver. The work has recorded its end.
func (s *scheduler) End(_ context.Context, i int) error {
	t := s.tasks[i]
	if t.ended.status != "" {
		t.Status, t.result = t.ended.status, t.ended.result
	}
	return t.ended.err
}

// Cancel implements schedule.Solver.
func (s *scheduler) Cancel(ctx context.Context, i int, reason string) error {
	t := s.tasks[i]
	t.result = ""
	return t.emitEnd(ctx, protocol.StatusCancelled, "", &protocol.Error{Message: reason})
}

// Restart implements schedule.Solver.
func (s *scheduler) Restart(ctx context.Context, i int) error {
	t := s.tasks[i]
	t.attempt++
	t.result = ""
	s.prepare(t)
	data := protocol.TaskData{Task: t.ID, Title: t.Title, Attempt: t.attempt}
	return t.runner.emit(ctx, taskEvent(protocol.TaskRestarted, data), t.saveProgress(taskProgress{Attempt: t.attempt}))
}

func taskEvent(typ protocol.Type, data protocol.TaskData) agent.Event {
	return agent.Event{Type: typ, Task: data.Task, Data: data}
}

// CancelTask cancels a task of the running plan.
func (a *scriptAgent) CancelTask(ctx context.Context, task string) error {
	return a.schedule.Load().CancelTask(ctx, task)
}

// RestartTask restarts a task of the running plan.
func (a *scriptAgent) RestartTask(ctx context.Context, task string) error {
	return a.schedule.Load().RestartTask(ctx, task)
}

package script

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"agentctl/protocol"
	"agentctl/server/session"
)

// defaultParallel is the default number of tasks that run at once.
const defaultParallel = 3

// A scheduler solves the tasks of a plan. The goroutine of solve owns the tasks. Each running task
// has its own goroutine.
type scheduler struct {
	*runner
	tasks    []*task
	parallel int
	running  int
	results  chan attemptResult
	requests chan taskRequest
	done     chan struct{} // closed when requests are no longer accepted
}

// A task is a task of the plan. While it runs, its goroutine owns its runner.
type task struct {
	taskSpec
	attempt int
	result  string
	runner  *runner
	stop    context.CancelFunc // nil: not running
	action  taskAction         // of the latest request, carried out by finish
	replies []chan<- error     // answered by finish
}

// A taskAction is a user action on a task.
type taskAction int

const (
	noAction taskAction = iota
	cancelTask
	restartTask
)

// A taskRequest asks the scheduler for an action on a task.
type taskRequest struct {
	task   string
	action taskAction
	reply  chan<- error // capacity 1
}

// An attemptResult is the result of an attempt. The status is empty when the attempt was stopped.
type attemptResult struct {
	*task
	status string
	err    error // ends the turn
}

// newScheduler returns a scheduler for tasks with their progress before a restart.
func (r *runner) newScheduler(tasks []taskSpec, limit int) *scheduler {
	s := &scheduler{
		runner: r, parallel: cmp.Or(limit, defaultParallel),
		results: make(chan attemptResult), requests: make(chan taskRequest), done: make(chan struct{}),
	}
	for _, spec := range tasks {
		progress := r.prior.Tasks[spec.ID]
		spec.Status = cmp.Or(progress.Status, protocol.StatusPending)
		if spec.Steps == nil {
			spec.Steps = steps{&say{Text: spec.Title + ": done."}}
		}
		t := &task{taskSpec: spec, attempt: max(1, progress.Attempt), result: progress.Result}
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

// solve runs the tasks, each after its dependencies, until all have ended. It returns after all its
// goroutines.
func (s *scheduler) solve(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s.agent.setScheduler(s)
	defer s.agent.setScheduler(nil)
	defer close(s.done)
	var failed error
	for {
		if failed == nil {
			if failed = s.advance(ctx); failed != nil {
				stop()
			}
		}
		if s.running == 0 {
			return failed
		}
		select {
		case r := <-s.results:
			if err := s.finish(ctx, r); err != nil && failed == nil {
				failed = err
				stop()
			}
		case req := <-s.requests:
			s.handle(ctx, req)
		}
	}
}

// advance starts tasks that are ready and cancels tasks that can never be ready.
func (s *scheduler) advance(ctx context.Context) error {
	for changed := true; changed; {
		changed = false
		for _, t := range s.tasks {
			if t.Status != protocol.StatusPending {
				continue
			}
			ready, failed := s.dependencies(t)
			switch {
			case failed != "":
				if err := s.endTask(ctx, t, protocol.StatusCancelled, failed+" did not complete", ""); err != nil {
					return err
				}
				changed = true
			case ready && s.running < s.parallel:
				s.start(ctx, t)
			}
		}
		if changed || s.running > 0 {
			continue
		}
		for _, t := range s.tasks { // cyclic dependencies
			if t.Status != protocol.StatusPending {
				continue
			}
			err := s.endTask(ctx, t, protocol.StatusFailed, "cyclic dependency", protocol.CodeAgentFailed)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// dependencies reports whether all dependencies of t are completed, and the title of one that
// failed or was cancelled.
func (s *scheduler) dependencies(t *task) (ready bool, failed string) {
	ready = true
	for _, other := range s.tasks {
		if !slices.Contains(t.After, other.ID) {
			continue
		}
		switch other.Status {
		case protocol.StatusCompleted:
		case protocol.StatusFailed, protocol.StatusCancelled:
			return false, other.Title
		default:
			ready = false
		}
	}
	return ready, ""
}

func (s *scheduler) start(ctx context.Context, t *task) {
	attemptCtx, stop := context.WithCancel(ctx)
	t.stop, t.Status = stop, protocol.StatusRunning
	s.running++
	go func() {
		status, err := t.run(ctx, attemptCtx)
		s.results <- attemptResult{t, status, err}
	}()
}

// run makes one attempt. ctx ends with the turn. attemptCtx also ends when a request stops the
// attempt.
func (t *task) run(ctx, attemptCtx context.Context) (status string, err error) {
	r := t.runner
	started := taskEvent(protocol.TaskStarted, protocol.TaskData{Task: t.ID, Title: t.Title, Attempt: t.attempt})
	if err := r.emit(ctx, started); err != nil {
		return "", err
	}
	err = t.Steps.run(attemptCtx, r)
	var failure *protocol.Error
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case attemptCtx.Err() != nil:
		return "", nil
	case err == nil:
		t.result = cmp.Or(r.expand(t.taskSpec.Result), "done")
		status = protocol.StatusCompleted
	case errors.As(err, &failure):
		status = protocol.StatusFailed
	default:
		return "", err
	}
	return status, t.emitEnd(ctx, status, failure)
}

// emitEnd emits the end of the task and saves its progress.
func (t *task) emitEnd(ctx context.Context, status string, failure *protocol.Error) error {
	data := protocol.TaskData{Task: t.ID, Title: t.Title, Attempt: t.attempt}
	typ := protocol.TaskCompleted
	switch status {
	case protocol.StatusCompleted:
		data.Result = t.result
	case protocol.StatusFailed:
		typ = protocol.TaskFailed
	case protocol.StatusCancelled:
		typ = protocol.TaskCancelled
	}
	if failure != nil {
		data.Message, data.Code = failure.Message, failure.Code
	}
	n := taskProgress{Attempt: t.attempt, Status: status, Result: t.result}
	return t.runner.emit(ctx, taskEvent(typ, data), t.saveProgress(n))
}

func (t *task) saveProgress(n taskProgress) func(*agentState) {
	return func(s *agentState) {
		if s.Turn != nil {
			s.Turn.Tasks[t.ID] = n
		}
	}
}

// endTask ends a task that is not running.
func (s *scheduler) endTask(ctx context.Context, t *task, status, message string, code protocol.Code) error {
	t.Status = status
	return t.emitEnd(ctx, status, &protocol.Error{Code: code, Message: message})
}

// finish handles the end of an attempt and carries out the action requested meanwhile.
func (s *scheduler) finish(ctx context.Context, r attemptResult) error {
	t := r.task
	s.running--
	t.stop()
	t.stop = nil
	t.Status = cmp.Or(r.status, protocol.StatusPending)
	err := r.err
	if err == nil && t.action != noAction {
		if t.action == restartTask {
			err = s.restart(ctx, t)
		} else if r.status == "" {
			err = s.endTask(ctx, t, protocol.StatusCancelled, "", "")
		}
	}
	for _, reply := range t.replies {
		switch {
		case err != nil:
			reply <- errNoPlan
		case t.action == cancelTask && r.status != "":
			reply <- errTaskEnded(t)
		default:
			reply <- nil
		}
	}
	t.action, t.replies = noAction, nil
	return err
}

// restart prepares the next attempt of a task that is not running.
func (s *scheduler) restart(ctx context.Context, t *task) error {
	t.attempt++
	t.result, t.Status = "", protocol.StatusPending
	s.prepare(t)
	data := protocol.TaskData{Task: t.ID, Title: t.Title, Attempt: t.attempt}
	return t.runner.emit(ctx, taskEvent(protocol.TaskRestarted, data), t.saveProgress(taskProgress{Attempt: t.attempt}))
}

// handle carries out a request. It stops a running task, and finish then carries out the request.
func (s *scheduler) handle(ctx context.Context, req taskRequest) {
	i := slices.IndexFunc(s.tasks, func(t *task) bool { return t.ID == req.task })
	if i < 0 {
		req.reply <- protocol.Errorf(protocol.CodeNotFound, "the plan has no task %.80q", req.task)
		return
	}
	switch t := s.tasks[i]; {
	case t.stop != nil:
		t.action, t.replies = req.action, append(t.replies, req.reply)
		t.stop()
	case t.Status == protocol.StatusPending && req.action == cancelTask:
		req.reply <- s.endTask(ctx, t, protocol.StatusCancelled, "", "")
	case t.Status == protocol.StatusPending:
		req.reply <- nil
	case req.action == cancelTask:
		req.reply <- errTaskEnded(t)
	default:
		req.reply <- s.restart(ctx, t)
	}
}

var errNoPlan = protocol.Errorf(protocol.CodeNotFound, "no plan is running")

func errTaskEnded(t *task) error {
	return protocol.Errorf(protocol.CodeNotFound, "the task %.80q is already %s", t.ID, t.Status)
}

func taskEvent(typ protocol.Type, data protocol.TaskData) session.Event {
	return session.Event{Type: typ, Task: data.Task, Data: data}
}

func (a *agent) setScheduler(s *scheduler) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.scheduler = s
}

// CancelTask cancels a task of the running plan.
func (a *agent) CancelTask(ctx context.Context, task string) error {
	return a.requestTask(ctx, task, cancelTask)
}

// RestartTask restarts a task of the running plan.
func (a *agent) RestartTask(ctx context.Context, task string) error {
	return a.requestTask(ctx, task, restartTask)
}

func (a *agent) requestTask(ctx context.Context, task string, action taskAction) error {
	a.mu.Lock()
	s := a.scheduler
	a.mu.Unlock()
	if s == nil {
		return errNoPlan
	}
	reply := make(chan error, 1)
	select {
	case s.requests <- taskRequest{task, action, reply}:
	case <-s.done:
		return errNoPlan
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-reply:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

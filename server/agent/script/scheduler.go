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

// defaultParallel is how many tasks run at once unless a plan says otherwise.
const defaultParallel = 3

// A crew solves the tasks of a plan. The goroutine in solve owns its jobs; each running job has a goroutine of its own.
type scheduler struct {
	*runner
	tasks    []*task
	parallel int
	running  int
	results  chan attemptResult
	requests chan taskRequest
	done     chan struct{} // closed when it takes no more orders
}

// A job is a task being solved. While it runs, its goroutine owns its lane.
type task struct {
	taskSpec
	attempt int
	result  string
	runner  *runner
	stop    context.CancelFunc // nil: not running
	action  taskAction         // of the newest order that stopped it
	replies []chan<- error     // whom to tell when that is done
}

// A wish is what a person wants of a task.
type taskAction int

const (
	noAction taskAction = iota
	cancelTask
	restartTask
)

type taskRequest struct {
	task   string
	action taskAction
	reply  chan<- error // has room for one
}

// A result is how an attempt at a job went. An empty status means that it was stopped.
type attemptResult struct {
	*task
	status string
	err    error // the turn cannot go on
}

// newScheduler makes a crew for tasks, as far as they had come before a restart.
func (l *runner) newScheduler(tasks []taskSpec, limit int) *scheduler {
	c := &scheduler{
		runner: l, parallel: cmp.Or(limit, defaultParallel),
		results: make(chan attemptResult), requests: make(chan taskRequest), done: make(chan struct{}),
	}
	for _, t := range tasks {
		n := l.prior.Tasks[t.ID]
		t.Status = cmp.Or(n.Status, protocol.StatusPending)
		if t.Steps == nil {
			t.Steps = steps{&say{Text: t.Title + ": done."}}
		}
		j := &task{taskSpec: t, attempt: max(1, n.Attempt), result: n.Result}
		c.prepare(j)
		c.tasks = append(c.tasks, j)
	}
	return c
}

// prepare gives the job a lane for its attempt.
func (s *scheduler) prepare(t *task) {
	key := fmt.Sprintf("%s/%d", t.ID, t.attempt)
	t.runner = s.turnRun.newRunner(key, t.ID, s.prior.Emitted[key])
}

// solve runs the jobs, each after those it needs, until all are over. It returns when none of its goroutines is left.
func (s *scheduler) solve(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s.agent.setScheduler(s)
	defer s.agent.setScheduler(nil)
	defer close(s.done)
	var broken error
	for {
		if broken == nil {
			if broken = s.advance(ctx); broken != nil {
				stop()
			}
		}
		if s.running == 0 {
			return broken
		}
		select {
		case r := <-s.results:
			if err := s.finish(ctx, r); err != nil && broken == nil {
				broken = err
				stop()
			}
		case req := <-s.requests:
			s.handle(ctx, req)
		}
	}
}

// advance starts what can start and gives up what never will.
func (s *scheduler) advance(ctx context.Context) error {
	for again := true; again; {
		again = false
		for _, t := range s.tasks {
			if t.Status != protocol.StatusPending {
				continue
			}
			ready, lost := s.dependencies(t)
			switch {
			case lost != "":
				if err := s.endTask(ctx, t, protocol.StatusCancelled, "it needs "+lost, ""); err != nil {
					return err
				}
				again = true
			case ready && s.running < s.parallel:
				s.start(ctx, t)
			}
		}
		if again || s.running > 0 {
			continue
		}
		for _, t := range s.tasks { // they wait for each other
			if t.Status != protocol.StatusPending {
				continue
			}
			if err := s.endTask(ctx, t, protocol.StatusFailed, "its tasks wait for each other", protocol.CodeAgentFailed); err != nil {
				return err
			}
		}
	}
	return nil
}

// dependencies tells whether all that j comes after is done, and which of it never will be.
func (s *scheduler) dependencies(t *task) (ready bool, lost string) {
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
	own, stop := context.WithCancel(ctx)
	t.stop, t.Status = stop, protocol.StatusRunning
	s.running++
	go func() {
		status, err := t.run(ctx, own)
		s.results <- attemptResult{t, status, err}
	}()
}

// run makes one attempt. own is stopped by orders, ctx with the turn.
func (t *task) run(ctx, own context.Context) (status string, err error) {
	r := t.runner
	started := taskEvent(protocol.TaskStarted, protocol.TaskData{Task: t.ID, Title: t.Title, Attempt: t.attempt})
	if err := r.emit(ctx, started); err != nil {
		return "", err
	}
	err = t.Steps.run(own, r)
	var failure *protocol.Error
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case own.Err() != nil:
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

// emitEnd emits how the job ended and keeps it for after a restart.
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

// endTask ends a job that does not run.
func (s *scheduler) endTask(ctx context.Context, t *task, status, message string, code protocol.Code) error {
	t.Status = status
	return t.emitEnd(ctx, status, &protocol.Error{Code: code, Message: message})
}

// finish takes note of a job that does not run any more and carries out what was ordered meanwhile.
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
	for _, w := range t.replies {
		switch {
		case err != nil:
			w <- errNoPlan
		case t.action == cancelTask && r.status != "":
			w <- errTaskEnded(t)
		default:
			w <- nil
		}
	}
	t.action, t.replies = noAction, nil
	return err
}

// restart makes a job that does not run ready for its next attempt.
func (s *scheduler) restart(ctx context.Context, t *task) error {
	t.attempt++
	t.result, t.Status = "", protocol.StatusPending
	s.prepare(t)
	data := protocol.TaskData{Task: t.ID, Title: t.Title, Attempt: t.attempt}
	return t.runner.emit(ctx, taskEvent(protocol.TaskRestarted, data), t.saveProgress(taskProgress{Attempt: t.attempt}))
}

// handle carries out an order, or stops the job so that settle can.
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

var errNoPlan = protocol.Errorf(protocol.CodeNotFound, "no plan is being solved")

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

// CancelTask stops a task of the plan being solved for good.
func (a *agent) CancelTask(ctx context.Context, task string) error {
	return a.requestTask(ctx, task, cancelTask)
}

// RestartTask has a task of the plan being solved done again from its beginning.
func (a *agent) RestartTask(ctx context.Context, task string) error {
	return a.requestTask(ctx, task, restartTask)
}

func (a *agent) requestTask(ctx context.Context, task string, want taskAction) error {
	a.mu.Lock()
	s := a.scheduler
	a.mu.Unlock()
	if s == nil {
		return errNoPlan
	}
	reply := make(chan error, 1)
	select {
	case s.requests <- taskRequest{task, want, reply}:
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

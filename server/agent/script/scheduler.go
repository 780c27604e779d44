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
func (c *scheduler) prepare(j *task) {
	key := fmt.Sprintf("%s/%d", j.ID, j.attempt)
	j.runner = c.turnRun.newRunner(key, j.ID, c.prior.Emitted[key])
}

// solve runs the jobs, each after those it needs, until all are over. It returns when none of its goroutines is left.
func (c *scheduler) solve(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c.agent.setScheduler(c)
	defer c.agent.setScheduler(nil)
	defer close(c.done)
	var broken error
	for {
		if broken == nil {
			if broken = c.advance(ctx); broken != nil {
				stop()
			}
		}
		if c.running == 0 {
			return broken
		}
		select {
		case r := <-c.results:
			if err := c.finish(ctx, r); err != nil && broken == nil {
				broken = err
				stop()
			}
		case o := <-c.requests:
			c.handle(ctx, o)
		}
	}
}

// advance starts what can start and gives up what never will.
func (c *scheduler) advance(ctx context.Context) error {
	for again := true; again; {
		again = false
		for _, j := range c.tasks {
			if j.Status != protocol.StatusPending {
				continue
			}
			ready, lost := c.dependencies(j)
			switch {
			case lost != "":
				if err := c.endTask(ctx, j, protocol.StatusCancelled, "it needs "+lost, ""); err != nil {
					return err
				}
				again = true
			case ready && c.running < c.parallel:
				c.start(ctx, j)
			}
		}
		if again || c.running > 0 {
			continue
		}
		for _, j := range c.tasks { // they wait for each other
			if j.Status != protocol.StatusPending {
				continue
			}
			if err := c.endTask(ctx, j, protocol.StatusFailed, "its tasks wait for each other", protocol.CodeAgentFailed); err != nil {
				return err
			}
		}
	}
	return nil
}

// dependencies tells whether all that j comes after is done, and which of it never will be.
func (c *scheduler) dependencies(j *task) (ready bool, lost string) {
	ready = true
	for _, other := range c.tasks {
		if !slices.Contains(j.After, other.ID) {
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

func (c *scheduler) start(ctx context.Context, j *task) {
	own, stop := context.WithCancel(ctx)
	j.stop, j.Status = stop, protocol.StatusRunning
	c.running++
	go func() {
		status, err := j.run(ctx, own)
		c.results <- attemptResult{j, status, err}
	}()
}

// run makes one attempt. own is stopped by orders, ctx with the turn.
func (j *task) run(ctx, own context.Context) (status string, err error) {
	l := j.runner
	started := taskEvent(protocol.TaskStarted, protocol.TaskData{Task: j.ID, Title: j.Title, Attempt: j.attempt})
	if err := l.emit(ctx, started); err != nil {
		return "", err
	}
	err = j.Steps.run(own, l)
	var failure *protocol.Error
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case own.Err() != nil:
		return "", nil
	case err == nil:
		j.result = cmp.Or(l.expand(j.taskSpec.Result), "done")
		status = protocol.StatusCompleted
	case errors.As(err, &failure):
		status = protocol.StatusFailed
	default:
		return "", err
	}
	return status, j.emitEnd(ctx, status, failure)
}

// emitEnd emits how the job ended and keeps it for after a restart.
func (j *task) emitEnd(ctx context.Context, status string, failure *protocol.Error) error {
	data := protocol.TaskData{Task: j.ID, Title: j.Title, Attempt: j.attempt}
	typ := protocol.TaskCompleted
	switch status {
	case protocol.StatusCompleted:
		data.Result = j.result
	case protocol.StatusFailed:
		typ = protocol.TaskFailed
	case protocol.StatusCancelled:
		typ = protocol.TaskCancelled
	}
	if failure != nil {
		data.Message, data.Code = failure.Message, failure.Code
	}
	n := taskProgress{Attempt: j.attempt, Status: status, Result: j.result}
	return j.runner.emit(ctx, taskEvent(typ, data), j.saveProgress(n))
}

func (j *task) saveProgress(n taskProgress) func(*agentState) {
	return func(m *agentState) {
		if m.Turn != nil {
			m.Turn.Tasks[j.ID] = n
		}
	}
}

// endTask ends a job that does not run.
func (c *scheduler) endTask(ctx context.Context, j *task, status, message string, code protocol.Code) error {
	j.Status = status
	return j.emitEnd(ctx, status, &protocol.Error{Code: code, Message: message})
}

// finish takes note of a job that does not run any more and carries out what was ordered meanwhile.
func (c *scheduler) finish(ctx context.Context, r attemptResult) error {
	j := r.task
	c.running--
	j.stop()
	j.stop = nil
	j.Status = cmp.Or(r.status, protocol.StatusPending)
	err := r.err
	if err == nil && j.action != noAction {
		if j.action == restartTask {
			err = c.restart(ctx, j)
		} else if r.status == "" {
			err = c.endTask(ctx, j, protocol.StatusCancelled, "", "")
		}
	}
	for _, w := range j.replies {
		switch {
		case err != nil:
			w <- errNoPlan
		case j.action == cancelTask && r.status != "":
			w <- errTaskEnded(j)
		default:
			w <- nil
		}
	}
	j.action, j.replies = noAction, nil
	return err
}

// restart makes a job that does not run ready for its next attempt.
func (c *scheduler) restart(ctx context.Context, j *task) error {
	j.attempt++
	j.result, j.Status = "", protocol.StatusPending
	c.prepare(j)
	data := protocol.TaskData{Task: j.ID, Title: j.Title, Attempt: j.attempt}
	return j.runner.emit(ctx, taskEvent(protocol.TaskRestarted, data), j.saveProgress(taskProgress{Attempt: j.attempt}))
}

// handle carries out an order, or stops the job so that settle can.
func (c *scheduler) handle(ctx context.Context, o taskRequest) {
	i := slices.IndexFunc(c.tasks, func(j *task) bool { return j.ID == o.task })
	if i < 0 {
		o.reply <- protocol.Errorf(protocol.CodeNotFound, "the plan has no task %.80q", o.task)
		return
	}
	switch j := c.tasks[i]; {
	case j.stop != nil:
		j.action, j.replies = o.action, append(j.replies, o.reply)
		j.stop()
	case j.Status == protocol.StatusPending && o.action == cancelTask:
		o.reply <- c.endTask(ctx, j, protocol.StatusCancelled, "", "")
	case j.Status == protocol.StatusPending:
		o.reply <- nil
	case o.action == cancelTask:
		o.reply <- errTaskEnded(j)
	default:
		o.reply <- c.restart(ctx, j)
	}
}

var errNoPlan = protocol.Errorf(protocol.CodeNotFound, "no plan is being solved")

func errTaskEnded(j *task) error {
	return protocol.Errorf(protocol.CodeNotFound, "the task %.80q is already %s", j.ID, j.Status)
}

func taskEvent(typ protocol.Type, data protocol.TaskData) session.Event {
	return session.Event{Type: typ, Task: data.Task, Data: data}
}

func (a *agent) setScheduler(c *scheduler) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.scheduler = c
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
	c := a.scheduler
	a.mu.Unlock()
	if c == nil {
		return errNoPlan
	}
	reply := make(chan error, 1)
	select {
	case c.requests <- taskRequest{task, want, reply}:
	case <-c.done:
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

package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentctl/protocol"
)

// A task is a task of the plan under way.
type task struct {
	protocol.Task
	attempt int    // 0: not started
	result  string // of a completed task
	failure string // why it failed or was cancelled
	skipped bool   // cancelled because of a dependency
	spent   spending
	took    time.Duration

	stop    context.CancelCauseFunc // nil: not running
	action  taskAction              // of the latest request, carried out by finish
	replies []chan<- error          // answered by finish; each has capacity 1
}

// An attemptResult is the end of an attempt: the answer of the agent, or an error.
type attemptResult struct {
	*task
	answer string
	err    error
	spent  spending
	took   time.Duration
}

// start begins an attempt.
func (s *scheduler) start(ctx context.Context, t *task) error {
	t.attempt++
	t.Status, t.failure = protocol.StatusRunning, ""
	if err := s.recordTask(protocol.TaskStarted, t, protocol.TaskData{}); err != nil {
		t.Status = protocol.StatusPending
		return err
	}
	attempt, stop := context.WithCancelCause(ctx)
	t.stop = stop
	s.running++
	solving, message, id := t.Task, s.taskMessage(t), fmt.Sprintf("%s.%d", t.ID, t.attempt)
	go func() {
		began := time.Now()
		limits := &s.agent.options.Config.Limits.Task
		timed, cancel := limits.withTime(attempt, "task", 0)
		defer cancel()
		answer, spent, err := s.attempt(timed, stop, &solving, message, id)
		s.results <- attemptResult{t, answer, err, spent, time.Since(began)}
	}()
	return nil
}

// attempt runs a solver on a task.
func (s *scheduler) attempt(
	ctx context.Context, stop context.CancelCauseFunc, t *protocol.Task, m protocol.Message, id string,
) (string, spending, error) {
	_, name, _ := s.agent.options.Config.Roles()
	in, err := s.openInner(solverRole, name, t, id, &s.agent.options.Config.Limits.Task, stop)
	if err != nil {
		return "", spending{}, err
	}
	defer in.close()
	answer, err := in.prompt(ctx, m, true)
	if err == nil && answer == "" {
		answer = "(the agent answered nothing)"
	}
	return answer, in.spending(), err
}

// end records the end of a task.
func (s *scheduler) end(t *task, status, message string, code protocol.Code) error {
	t.Status, t.failure = status, message
	d := protocol.TaskData{
		Message: message, Code: code, DurationMS: t.took.Milliseconds(), Calls: t.spent.calls,
		Usage: t.spent.reported(),
	}
	typ := protocol.TaskCompleted
	switch status {
	case protocol.StatusCompleted:
		d.Result = t.result
	case protocol.StatusFailed:
		typ = protocol.TaskFailed
	case protocol.StatusCancelled:
		typ = protocol.TaskCancelled
	}
	if status != protocol.StatusCompleted {
		t.result = ""
	}
	return s.recordTask(typ, t, d)
}

// recordTask records an event of a task, and saves the tasks with it.
func (s *scheduler) recordTask(typ protocol.Type, t *task, d protocol.TaskData) error {
	d.Task, d.Title, d.Attempt = t.ID, t.Title, t.attempt
	return s.record(taskEvent(typ, d), func(st *state) { st.setPlan(s.plan, s.tasks) })
}

// restart makes a task that does not run pending again, and the tasks that were skipped because of
// it.
func (s *scheduler) restart(t *task) error {
	t.Status, t.result, t.failure, t.skipped = protocol.StatusPending, "", "", false
	t.spent, t.took = spending{}, 0
	err := s.record(taskEvent(protocol.TaskRestarted, protocol.TaskData{
		Task: t.ID, Title: t.Title, Attempt: t.attempt + 1,
	}), func(st *state) { st.setPlan(s.plan, s.tasks) })
	if err != nil {
		return err
	}
	for _, other := range s.tasks {
		if !other.skipped {
			continue
		}
		if _, missing := s.dependencies(other); missing == "" {
			if err := s.restart(other); err != nil {
				return err
			}
		}
	}
	return nil
}

// A taskAction is what a user wants of a task.
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
	reply  chan error // capacity 1
}

// errTaskStopped is the cause of an attempt that a user stopped.
var errTaskStopped = errors.New("a user stopped the task")

const cancelledByUser = "a user cancelled the task"

var errNoPlan = protocol.Errorf(protocol.CodeNotFound, "no tasks are running")

func errTaskEnded(t *task) error {
	return protocol.Errorf(protocol.CodeNotFound, "the task %.80q is already %s", t.ID, t.Status)
}

// handle carries out a request, or stops the running task so that finish does.
func (s *scheduler) handle(q taskRequest) {
	var t *task
	for _, of := range s.tasks {
		if of.ID == q.task {
			t = of
		}
	}
	switch {
	case t == nil:
		q.reply <- protocol.Errorf(protocol.CodeNotFound, "the plan has no task %.80q", q.task)
	case t.stop != nil:
		t.action, t.replies = q.action, append(t.replies, q.reply)
		t.stop(errTaskStopped)
	case t.Status == protocol.StatusPending && q.action == cancelTask:
		q.reply <- s.end(t, protocol.StatusCancelled, cancelledByUser, "")
	case t.Status == protocol.StatusPending:
		q.reply <- nil
	case q.action == cancelTask:
		q.reply <- errTaskEnded(t)
	default:
		q.reply <- s.restart(t)
	}
}

// CancelTask implements session.TaskController.
func (a *Agent) CancelTask(ctx context.Context, task string) error {
	return a.requestTask(ctx, task, cancelTask)
}

// RestartTask implements session.TaskController.
func (a *Agent) RestartTask(ctx context.Context, task string) error {
	return a.requestTask(ctx, task, restartTask)
}

func (a *Agent) requestTask(ctx context.Context, task string, action taskAction) error {
	a.mu.Lock()
	var s *scheduler
	if a.run != nil {
		s = a.run.scheduler
	}
	a.mu.Unlock()
	if s == nil {
		return errNoPlan
	}
	q := taskRequest{task, action, make(chan error, 1)}
	select {
	case s.requests <- q:
	case <-s.done:
		return errNoPlan
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-q.reply:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

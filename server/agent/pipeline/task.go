package pipeline

import (
	"cmp"
	"context"
	"errors"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/schedule"
)

type task struct {
	schedule.Task
	attempt int // 0: not started

	continues bool // its attempt began before a restart

	result  string            // of a completed task
	failure string            // why it failed or was cancelled
	limited *agent.LimitError // the usage limit that it failed at; nil: none

	ended attemptResult // of the latest attempt; written by its work, then read by the schedule
}

// An attemptResult is the end of an attempt: the answer of the agent, or an error.
type attemptResult struct {
	answer string
	err    error
	spent  spending
	took   time.Duration
}

const cancelledByUser = "a user cancelled the task"

// Parallel implements schedule.Solver.
func (s *scheduler) Parallel() int { return s.agent.parallel() }

// Start implements schedule.Solver.
func (s *scheduler) Start(_ context.Context, i int) (work func(ctx context.Context), err error) {
	t := s.tasks[i]
	if t.continues {
		t.continues = false
	} else {
		t.attempt++
		t.failure = ""
		if err := s.recordTask(protocol.TaskStarted, t, protocol.TaskData{}); err != nil {
			return nil, err
		}
	}
	solving, message, id := t.Task.Task, s.taskMessage(t), attemptID(t.ID, t.attempt)
	return func(ctx context.Context) {
		began := time.Now()
		ctx, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		timed, cancel := s.agent.options.Config.Limits.Task.withTime(ctx, "task", 0)
		defer cancel()
		answer, spent, err := s.attempt(timed, stop, &solving, message, id)
		t.ended = attemptResult{answer, err, spent, time.Since(began)}
	}, nil
}

func (s *scheduler) attempt(
	ctx context.Context, stop context.CancelCauseFunc, t *protocol.Task, m protocol.Message, id string,
) (string, spending, error) {
	_, name, _ := s.agent.options.Config.Roles()
	in, err := s.openInner(solverRole, name, *t, id, &s.agent.options.Config.Limits.Task, stop)
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

// End implements schedule.Solver.
func (s *scheduler) End(ctx context.Context, i int) error {
	t := s.tasks[i]
	r := &t.ended
	t.result = r.answer
	s.ended.add(r.spent)
	var limit *limitError
	if !errors.As(r.err, &t.limited) {
		t.limited = nil
	}
	switch {
	case r.err == nil:
		return s.end(t, protocol.StatusCompleted, "", "")
	case ctx.Err() != nil:
		return s.end(t, protocol.StatusCancelled, context.Cause(ctx).Error(), "")
	case errors.Is(r.err, schedule.ErrStopped):
		return nil
	case errors.As(r.err, &limit):
		return s.end(t, protocol.StatusFailed, limit.message, limit.code())
	}
	return s.end(t, protocol.StatusFailed, r.err.Error(), cmp.Or(codeOf(r.err), protocol.CodeAgentFailed))
}

// Cancel implements schedule.Solver.
func (s *scheduler) Cancel(_ context.Context, i int, reason string) error {
	return s.end(s.tasks[i], protocol.StatusCancelled, cmp.Or(reason, cancelledByUser), "")
}

// Restart implements schedule.Solver.
func (s *scheduler) Restart(_ context.Context, i int) error {
	t := s.tasks[i]
	t.result, t.failure, t.ended = "", "", attemptResult{}
	return s.record(taskEvent(protocol.TaskRestarted, protocol.TaskData{
		Task: t.ID, Title: t.Title, Attempt: t.attempt + 1,
	}), s.setPlan)
}

func (s *scheduler) end(t *task, status, message string, code protocol.Code) error {
	t.Status, t.failure = status, message
	d := protocol.TaskData{
		Message: message, Code: code, DurationMS: t.ended.took.Milliseconds(), Calls: t.ended.spent.calls,
		Usage: t.ended.spent.reported(),
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
	return s.record(taskEvent(typ, d), s.setPlan)
}

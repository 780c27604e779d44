package schedule

import (
	"context"
	"errors"
	"slices"

	"agentctl/protocol"
)

// A request asks to restart a task, or to cancel it.
type request struct {
	task    string
	restart bool
	reply   chan error // capacity 1
}

// ErrStopped is the cause of the context of work that a user stopped.
var ErrStopped = errors.New("a user stopped the task")

var errNoPlan = protocol.Errorf(protocol.CodeNotFound, "no tasks are running")

func errTaskEnded(t *Task) error {
	return protocol.Errorf(protocol.CodeNotFound, "the task %.80q is already %s", t.ID, t.Status)
}

// CancelTask cancels a task and returns when that is recorded. If no tasks run, or none with the
// id, the error has the code not_found. It accepts a nil Schedule.
func (s *Schedule) CancelTask(ctx context.Context, id string) error {
	return s.request(ctx, id, false)
}

// RestartTask restarts a task as CancelTask cancels one. Tasks that were cancelled because of it
// are pending again, too.
func (s *Schedule) RestartTask(ctx context.Context, id string) error {
	return s.request(ctx, id, true)
}

func (s *Schedule) request(ctx context.Context, id string, restart bool) error {
	if s == nil {
		return errNoPlan
	}
	q := request{id, restart, make(chan error, 1)}
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

// handle carries out a request, or stops the work on the task so that finish does.
func (s *Schedule) handle(ctx context.Context, q request) {
	i := slices.IndexFunc(s.tasks, func(t *Task) bool { return t.ID == q.task })
	if i < 0 {
		q.reply <- protocol.Errorf(protocol.CodeNotFound, "the plan has no task %.80q", q.task)
		return
	}
	switch t := s.tasks[i]; {
	case t.stop != nil:
		t.restart, t.replies = q.restart, append(t.replies, q.reply)
		t.stop(ErrStopped)
	case t.Status == protocol.StatusPending && !q.restart:
		q.reply <- s.cancel(ctx, i, "")
	case t.Status == protocol.StatusPending:
		q.reply <- nil
	case !q.restart:
		q.reply <- errTaskEnded(t)
	default:
		q.reply <- s.restart(ctx, i)
	}
}

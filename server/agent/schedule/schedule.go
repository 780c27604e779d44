package schedule

import (
	"context"
	"slices"

	"agentctl/protocol"
)

// A Task is a task of a Schedule. The goroutine of Run owns it.
type Task struct {
	protocol.Task

	skipped bool                    // cancelled because of a dependency
	stop    context.CancelCauseFunc // nil: not running
	restart bool                    // what the latest request asks for; finish carries it out
	replies []chan<- error          // answered by finish; each has capacity 1
}

// A Solver carries out tasks, named by their index, and records what happens to them. Run sets the
// new status of the task before it calls a method, with a context that ends with Run. An error ends
// Run; the error of a request for a task that does not run is the request's answer.
type Solver interface {
	// Parallel returns the maximum number of concurrent tasks.
	Parallel() int

	// Start records that a task starts. The returned function carries it out, on a separate
	// goroutine, until its context ends. It must not use the task.
	Start(ctx context.Context, task int) (work func(attempt context.Context), err error)

	// End records the end of the work and sets the status of the task. It leaves the status if a
	// request of a user stopped the work: Cancel or Restart follows.
	End(ctx context.Context, task int) error

	// Cancel records that a task that does not run is cancelled: for a reason, or by a user.
	Cancel(ctx context.Context, task int, reason string) error

	// Restart records that a task is pending again.
	Restart(ctx context.Context, task int) error
}

// A Schedule runs tasks once.
type Schedule struct {
	tasks    []*Task
	solver   Solver
	running  int
	ended    chan int // tasks whose work returned
	requests chan request
	changed  chan struct{} // capacity 1
	done     chan struct{} // closed when requests are no longer accepted
}

// New returns a schedule of tasks with their present statuses.
func New(tasks []*Task, solver Solver) *Schedule {
	s := &Schedule{
		tasks: tasks, solver: solver, ended: make(chan int), requests: make(chan request),
		changed: make(chan struct{}, 1), done: make(chan struct{}),
	}
	for _, t := range tasks { // that were cancelled before a restart of the server
		_, missing := s.dependencies(t)
		t.skipped = t.Status == protocol.StatusCancelled && missing != ""
	}
	return s
}

// Run runs the tasks until all have ended. It returns after all work, with the cause of ctx if that
// ended, or with the first error of the solver.
func (s *Schedule) Run(ctx context.Context) error {
	defer close(s.done)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var failed error
	for {
		if failed == nil {
			if failed = context.Cause(ctx); failed == nil {
				failed = s.advance(ctx)
			}
			if failed != nil {
				stop(failed)
			}
		}
		if s.running == 0 {
			return failed
		}
		select {
		case i := <-s.ended:
			if err := s.finish(ctx, i); err != nil && failed == nil {
				failed = err
				stop(err)
			}
		case q := <-s.requests:
			if failed != nil {
				q.reply <- errNoPlan
				continue
			}
			s.handle(ctx, q)
		case <-s.changed:
		}
	}
}

// Reconsider starts tasks if the solver now allows more. It accepts a nil Schedule.
func (s *Schedule) Reconsider() {
	if s == nil {
		return
	}
	select {
	case s.changed <- struct{}{}:
	default: // it is about to
	}
}

// advance starts tasks that are ready, and cancels tasks that never will be.
func (s *Schedule) advance(ctx context.Context) error {
	parallel := s.solver.Parallel()
	for changed := true; changed; {
		changed = false
		for i, t := range s.tasks {
			if t.Status != protocol.StatusPending {
				continue
			}
			ready, missing := s.dependencies(t)
			switch {
			case missing != "":
				t.skipped, changed = true, true
				if err := s.cancel(ctx, i, missing+" was not completed"); err != nil {
					return err
				}
			case ready && s.running < parallel:
				if err := s.start(ctx, i); err != nil {
					return err
				}
			}
		}
		if changed || s.running > 0 {
			continue
		}
		for i, t := range s.tasks {
			if t.Status == protocol.StatusPending {
				changed = true
				if err := s.cancel(ctx, i, "cyclic dependency"); err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}

// dependencies reports whether all dependencies of t are completed, and the title of one that never
// will be.
func (s *Schedule) dependencies(t *Task) (ready bool, missing string) {
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

// start begins the work on a task.
func (s *Schedule) start(ctx context.Context, i int) error {
	t := s.tasks[i]
	t.Status = protocol.StatusRunning
	work, err := s.solver.Start(ctx, i)
	if err != nil {
		t.Status = protocol.StatusPending
		return err
	}
	working, stop := context.WithCancelCause(ctx)
	t.stop = stop
	s.running++
	go func() {
		work(working)
		s.ended <- i
	}()
	return nil
}

// finish handles the end of the work on a task, and carries out the latest request of users for it.
func (s *Schedule) finish(ctx context.Context, i int) error {
	t := s.tasks[i]
	s.running--
	t.stop(nil)
	t.stop = nil
	err := s.solver.End(ctx, i)
	stopped := t.Status == protocol.StatusRunning
	switch {
	case err != nil || ctx.Err() != nil:
	case t.restart:
		err = s.restart(ctx, i)
	case stopped:
		err = s.cancel(ctx, i, "")
	}
	for _, reply := range t.replies {
		switch {
		case err != nil || ctx.Err() != nil:
			reply <- errNoPlan
		case !t.restart && !stopped:
			reply <- errTaskEnded(t)
		default:
			reply <- nil
		}
	}
	t.restart, t.replies = false, nil
	return err
}

func (s *Schedule) cancel(ctx context.Context, i int, reason string) error {
	s.tasks[i].Status = protocol.StatusCancelled
	return s.solver.Cancel(ctx, i, reason)
}

// restart makes a task that does not run pending again, and the tasks that were cancelled because
// of it.
func (s *Schedule) restart(ctx context.Context, i int) error {
	s.tasks[i].Status, s.tasks[i].skipped = protocol.StatusPending, false
	if err := s.solver.Restart(ctx, i); err != nil {
		return err
	}
	for j, other := range s.tasks {
		if !other.skipped {
			continue
		}
		if _, missing := s.dependencies(other); missing == "" {
			if err := s.restart(ctx, j); err != nil {
				return err
			}
		}
	}
	return nil
}

package pipeline

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"agentctl/protocol"
)

// A scheduler solves the tasks of a plan: several at once, each after those that it depends on. The
// goroutine of solve owns the tasks. Each running task has its own goroutine, which reads only the
// message that it was started with.
type scheduler struct {
	*run
	plan     *plan
	tasks    []*task
	parallel int
	running  int
	results  chan attemptResult
	requests chan taskRequest
	done     chan struct{} // closed when requests are no longer accepted
}

func (r *run) newScheduler(p *plan) *scheduler {
	s := &scheduler{
		run: r, plan: p, parallel: cmp.Or(r.agent.options.Config.Parallel, defaultParallel),
		results: make(chan attemptResult), requests: make(chan taskRequest), done: make(chan struct{}),
	}
	r.agent.mu.Lock()
	defer r.agent.mu.Unlock()
	for _, of := range p.tasks {
		t := &task{Task: of}
		if r.turn.Plan != nil {
			saved, _ := r.agent.state.find(&of)
			t.attempt = saved.Attempt
			if of.Status == protocol.StatusCompleted {
				t.result = saved.Result
			}
		}
		s.tasks = append(s.tasks, t)
	}
	return s
}

// solve runs the tasks until all have ended. It returns after all its goroutines, with the cause of
// ctx if that ended, or an error if no task was completed.
func (s *scheduler) solve(ctx context.Context) error {
	s.setScheduler(s)
	defer s.setScheduler(nil)
	defer close(s.done)
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s.save()
	var failed error
	for {
		if failed == nil {
			if failed = context.Cause(work); failed == nil {
				failed = s.advance(work)
			}
			if failed != nil {
				stop(failed)
			}
		}
		if s.running == 0 {
			break
		}
		select {
		case r := <-s.results:
			if err := s.finish(work, r); err != nil && failed == nil {
				failed = err
				stop(err)
			}
		case q := <-s.requests:
			if failed != nil {
				q.reply <- errNoPlan
				continue
			}
			s.handle(q)
		}
	}
	if failed != nil {
		return failed
	}
	return s.checkCompleted()
}

// checkCompleted records that the plan failed if no task was completed.
func (s *scheduler) checkCompleted() error {
	message := "no task was completed"
	for _, t := range s.tasks {
		if t.Status == protocol.StatusCompleted {
			return nil
		}
		if t.Status == protocol.StatusFailed && t.failure != "" {
			message = "no task was completed: " + t.failure
		}
	}
	if err := s.emit(protocol.PlanFailed, protocol.PlanErrorData{
		Message: message, Code: protocol.CodeAgentFailed,
	}); err != nil {
		return err
	}
	return protocol.Errorf(protocol.CodeAgentFailed, "%s", message)
}

// advance starts tasks that are ready, and cancels those that depend on one that was not completed.
func (s *scheduler) advance(ctx context.Context) error {
	for changed := true; changed; {
		changed = false
		for _, t := range s.tasks {
			if t.Status != protocol.StatusPending {
				continue
			}
			ready, missing := s.dependencies(t)
			switch {
			case missing != "":
				t.skipped, changed = true, true
				if err := s.end(t, protocol.StatusCancelled, missing+" was not completed", ""); err != nil {
					return err
				}
			case ready && s.running < s.parallel:
				if err := s.start(ctx, t); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// dependencies reports whether all dependencies of t are completed, and the title of one that will
// not be.
func (s *scheduler) dependencies(t *task) (ready bool, missing string) {
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

// finish records the end of an attempt and carries out what users asked for meanwhile.
func (s *scheduler) finish(ctx context.Context, r attemptResult) error {
	t := r.task
	s.running--
	t.stop(nil)
	t.stop = nil
	t.result, t.spent, t.took = r.answer, r.spent, r.took
	var limit *limitError
	var status string
	var err error
	switch {
	case r.err == nil:
		status, err = protocol.StatusCompleted, s.end(t, protocol.StatusCompleted, "", "")
	case ctx.Err() != nil:
		err = s.end(t, protocol.StatusCancelled, context.Cause(ctx).Error(), "")
	case errors.Is(r.err, errTaskStopped) && t.action == restartTask: // the restart ends the attempt
	case errors.Is(r.err, errTaskStopped):
		err = s.end(t, protocol.StatusCancelled, cancelledByUser, "")
	case errors.As(r.err, &limit):
		status, err = protocol.StatusFailed, s.end(t, protocol.StatusFailed, limit.message, limit.code())
	default:
		code := cmp.Or(codeOf(r.err), protocol.CodeAgentFailed)
		status, err = protocol.StatusFailed, s.end(t, protocol.StatusFailed, r.err.Error(), code)
	}
	if err == nil && ctx.Err() == nil && t.action == restartTask {
		err = s.restart(t)
	}
	for _, reply := range t.replies {
		switch {
		case err != nil || ctx.Err() != nil:
			reply <- errNoPlan
		case t.action == cancelTask && status != "":
			reply <- errTaskEnded(t)
		default:
			reply <- nil
		}
	}
	t.action, t.replies = noAction, nil
	return err
}

func (s *scheduler) setScheduler(of *scheduler) {
	s.agent.mu.Lock()
	defer s.agent.mu.Unlock()
	s.run.scheduler = of
}

// save sets the plan of the state; the next event saves it.
func (s *scheduler) save() {
	s.agent.mu.Lock()
	defer s.agent.mu.Unlock()
	s.agent.state.setPlan(s.plan, s.tasks)
}

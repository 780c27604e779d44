package pipeline

import (
	"context"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/schedule"
)

// A scheduler is the Solver of a plan's schedule. The goroutine of solve owns the tasks.
type scheduler struct {
	*run
	plan  *plan
	tasks []*task
	ended spending // of the turn's agents that have ended, as of the last recorded end
}

var _ schedule.Solver = (*scheduler)(nil)

func (r *run) newScheduler(p *plan) *scheduler {
	s := &scheduler{run: r, plan: p}
	r.agent.mu.Lock()
	defer r.agent.mu.Unlock()
	for _, of := range p.tasks {
		t := &task{Task: schedule.Task{Task: of}}
		if r.turn.Plan != nil || r.continued {
			saved := r.agent.state.find(&of)
			t.attempt = saved.Attempt
			if of.Status == protocol.StatusCompleted {
				t.result = saved.Result
			}
			if r.continued {
				t.failure = saved.Failure
			}
		}
		if t.continues = r.continued && t.Status == protocol.StatusRunning; t.continues {
			t.Status = protocol.StatusPending
		}
		s.tasks = append(s.tasks, t)
	}
	s.ended = r.spent
	return s
}

// solve runs the tasks until all have ended. It returns after all its goroutines, with the cause of
// ctx if that ended, or an error if no task was completed.
func (s *scheduler) solve(ctx context.Context) error {
	tasks := make([]*schedule.Task, len(s.tasks))
	for i, t := range s.tasks {
		tasks[i] = &t.Task
	}
	running := schedule.New(tasks, s)
	s.agent.schedule.Store(running)
	defer s.agent.schedule.Store(nil)
	if !s.continued {
		s.save()
	}
	if err := running.Run(ctx); err != nil {
		return err
	}
	return s.checkCompleted()
}

// checkCompleted records that the plan failed if no task was completed.
func (s *scheduler) checkCompleted() error {
	message, code := "no task was completed", protocol.CodeAgentFailed
	var limited *agent.LimitError
	for _, t := range s.tasks {
		if t.Status == protocol.StatusCompleted {
			return nil
		}
		if t.Status == protocol.StatusFailed && t.failure != "" {
			message = "no task was completed: " + t.failure
		}
		if t.limited != nil {
			limited, code = t.limited, protocol.CodeLimited
		}
	}
	if err := s.emit(protocol.PlanFailed, protocol.PlanErrorData{Message: message, Code: code}); err != nil {
		return err
	}
	if limited != nil {
		return &agent.LimitError{Message: message, Limit: agent.Limit{ResetsAt: limited.ResetsAt, TookIn: true}}
	}
	return protocol.Errorf(code, "%s", message)
}

// save sets the plan of the state; the next event saves it.
func (s *scheduler) save() {
	s.agent.mu.Lock()
	defer s.agent.mu.Unlock()
	st := &s.agent.state
	st.Turn, st.End, st.Before = s.turn.ID, nil, s.usageBefore
	s.setPlan(st)
}

// setPlan sets the plan of the state, and what its agents that have ended used.
func (s *scheduler) setPlan(st *state) {
	st.setPlan(s.plan, s.tasks)
	st.Changed = s.changed.store()
	st.Spent, st.Calls = s.ended.usage, s.ended.calls
}

// CancelTask implements agent.TaskController.
func (a *Agent) CancelTask(ctx context.Context, task string) error {
	return a.schedule.Load().CancelTask(ctx, task)
}

// RestartTask implements agent.TaskController.
func (a *Agent) RestartTask(ctx context.Context, task string) error {
	return a.schedule.Load().RestartTask(ctx, task)
}

package pipeline

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// A run is one turn. Its stages run on the goroutine of Agent.Run.
type run struct {
	agent *Agent
	turn  agent.Turn
	out   agent.Output
	stop  context.CancelCauseFunc // of the work of the turn

	used  time.Duration // of the turn's time, by stages that ended
	began time.Time     // of the present stage

	usageBefore protocol.Usage // of the session; static
	spent       spending       // of agents that were closed; guarded by agent.mu
	changed     changedFiles
	continued   bool // the tasks ran before a restart; static
}

// begin prepares a turn. It returns its end if that was before a restart. The agent's lock is held.
func (r *run) begin(s *state) *agent.End {
	r.continued = r.turn.Resumed && s.Turn == r.turn.ID
	if !r.continued {
		s.endTurn()
		r.usageBefore = s.Usage
		return nil
	}
	r.usageBefore, r.spent = s.Before, spending{s.Spent, s.Calls}
	if s.Changed != nil {
		r.changed.restore(s.Changed)
	}
	s.Running = slices.Clone(s.Running)
	for i := range s.Running {
		if c := &s.Running[i]; s.Ended || c.Dropped { // its agent is not opened again
			r.spent.add(spending{c.Usage, c.Calls})
			c.Usage, c.Calls = protocol.Usage{}, 0
		}
	}
	if s.Ended && s.End == nil {
		s.Usage = addUsage(s.Before, r.spent.usage)
		return &agent.End{Usage: r.spent.reported()}
	}
	return s.End
}

func (r *run) work(ctx context.Context) (agent.End, error) {
	p, end, err := r.plan(ctx)
	if err != nil {
		return end, errors.Join(err, r.endPlan(ctx, err))
	}
	if p == nil {
		return end, nil
	}
	err = r.timed(ctx, func(ctx context.Context) error {
		s := r.newScheduler(p)
		if err := s.solve(ctx); err != nil {
			return err
		}
		return r.aggregate(ctx, p, s.tasks)
	})
	return agent.End{}, err
}

// endPlan records that planning was interrupted or failed.
func (r *run) endPlan(ctx context.Context, err error) error {
	var limit *limitError
	if ctx.Err() != nil || errors.As(err, &limit) {
		return r.emit(protocol.PlanCancelled, protocol.PlanErrorData{Message: err.Error()})
	}
	code := cmp.Or(codeOf(err), protocol.CodeAgentFailed)
	return r.emit(protocol.PlanFailed, protocol.PlanErrorData{Message: err.Error(), Code: code})
}

// timed runs a stage within the time that is left of the turn.
func (r *run) timed(ctx context.Context, stage func(ctx context.Context) error) error {
	r.began = time.Now()
	defer func() { r.used += time.Since(r.began) }()
	ctx, cancel := r.agent.options.Config.Limits.Turn.withTime(ctx, "turn", r.used)
	defer cancel()
	return stage(ctx)
}

// emit appends an event that is not of a task.
func (r *run) emit(typ protocol.Type, data any) error {
	return r.out.Emit(agent.Event{Type: typ, Data: data})
}

// record changes the state, and saves it in one commit with an event.
func (r *run) record(e agent.Event, change func(*state)) error {
	return r.agent.change(change, func(b []byte) error {
		e.Save = b
		return r.out.Emit(e)
	})
}

// total returns the usage of the turn's agents so far.
func (r *run) total() spending {
	r.agent.mu.Lock()
	defer r.agent.mu.Unlock()
	sum := r.spent
	for _, in := range r.agent.inners {
		if in.run == r {
			sum.add(in.spending())
		}
	}
	return sum
}

func (r *run) emitUsage() error {
	r.agent.usageMu.Lock()
	defer r.agent.usageMu.Unlock()
	return r.emit(protocol.UsageUpdated, addUsage(r.usageBefore, r.total().usage))
}

// checkLimits stops the work of an agent, or the turn, if it has used more than its limits allow.
func (r *run) checkLimits(in *inner) {
	of := in.spending()
	if err := in.limits.exceeded("task", &of); err != nil {
		in.stop(err)
	}
	total := r.total()
	if err := r.agent.options.Config.Limits.Turn.exceeded("turn", &total); err != nil {
		r.stop(err)
	}
}

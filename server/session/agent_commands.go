package session

import (
	"context"
	"maps"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/policy"
	"agentctl/server/session/record"
	"agentctl/server/session/slot"
)

func init() {
	handlers[protocol.DoTaskCancel] = handler((*Session).taskCancel)
	handlers[protocol.DoTaskRestart] = handler((*Session).taskRestart)
	handlers[protocol.DoContext] = handler((*Session).context)
	handlers[protocol.DoCompact] = handler((*Session).compact)
	handlers[protocol.DoConfigure] = handler((*Session).configure)
	handlers[protocol.DoSnapshot] = handler((*Session).snapshot)
}

// asyncTimeout bounds the work of an agent on a command.
const asyncTimeout = 5 * time.Minute

// runAsync runs work off the session's goroutine, then finish on it, also after a failure, and
// answers the command with the result; nil: with the result of work. Work of the agent waits for its
// preparation; nil: it does not need the agent. It returns errAnswerLater.
func runAsync[T any](
	s *Session, cmd *command, preparation *slot.Preparation,
	work func(context.Context) (T, error), finish func(T, error) (any, error),
) error {
	if preparation != nil {
		s.forgetIdleEnd()
	}
	s.asyncCommands++
	s.hub.agents.Go(func() {
		ctx, cancel := context.WithTimeout(s.background, asyncTimeout)
		defer cancel()
		var result T
		var err error
		if preparation != nil {
			err = preparation.Wait(ctx)
		}
		if err == nil {
			result, err = work(ctx)
		}
		posted := s.mail.post(func() {
			s.asyncCommands--
			s.deadlines.touch()
			s.handleEmitted() // the answer follows the events that the agent emitted during the work
			answer := any(result)
			if finish != nil {
				answer, err = finish(result, err)
			}
			s.answer(cmd, answer, agentError(err))
			s.scheduleTimer()
		})
		if !posted {
			cmd.Answer(nil, protocol.Errorf(protocol.CodeShuttingDown, "the session was stopped: try again"))
		}
	})
	return errAnswerLater
}

// agentError gives an error of an agent without a code the code agent_failed.
func agentError(err error) error {
	if err == nil || protocol.CodeOf(err) != protocol.CodeInternal {
		return err
	}
	return protocol.Errorf(protocol.CodeAgentFailed,
		"%s", protocol.SplitText(protocol.ValidText(err.Error()), record.LongText)[0])
}

func unsupported(agent, what string) error {
	return protocol.Errorf(protocol.CodeUnsupported, "the agent %s cannot %s", agent, what)
}

// requireCapability opens the agent and returns it as a T. For an agent that is not a T the error
// has the code unsupported.
func requireCapability[T any](s *Session, what string) (T, error) {
	var zero T
	agent, err := s.openAgent()
	if err != nil {
		return zero, err
	}
	t, ok := agent.(T)
	if !ok {
		return zero, unsupported(s.state.Agent, what)
	}
	return t, nil
}

// unlessFailed returns a finish of runAsync that does nothing after a failure.
func unlessFailed[T any](finish func(T) (any, error)) func(T, error) (any, error) {
	return func(result T, err error) (any, error) {
		if err != nil {
			return nil, err
		}
		return finish(result)
	}
}

func (s *Session) taskCancel(cmd *command, d *protocol.TaskIDData) (any, error) {
	c, err := requireCapability[agent.TaskController](s, "cancel tasks")
	if err != nil {
		return nil, err
	}
	return nil, runAsync(s, cmd, s.slot.Preparation(), func(ctx context.Context) (protocol.Empty, error) {
		return protocol.Empty{}, c.CancelTask(ctx, d.Task)
	}, nil)
}

func (s *Session) taskRestart(cmd *command, d *protocol.TaskIDData) (any, error) {
	c, err := requireCapability[agent.TaskController](s, "restart tasks")
	if err != nil {
		return nil, err
	}
	if s.turn == nil && s.state.Turn == nil && s.slot.Capabilities().ContinuesPlans {
		m, err := continuedPlan(s.state.Plan, d.Task)
		if err == nil {
			_, err = s.acceptMessage(cmd, m, true)
		}
		return protocol.Empty{}, err
	}
	return nil, runAsync(s, cmd, s.slot.Preparation(), func(ctx context.Context) (protocol.Empty, error) {
		return protocol.Empty{}, c.RestartTask(ctx, d.Task)
	}, nil)
}

// context asks the agent for its context usage. For an agent that cannot report it, the answer is
// the usage that the agent reported last.
func (s *Session) context(cmd *command, _ *protocol.Empty) (any, error) {
	m, err := requireCapability[agent.Measurer](s, "report its context")
	if err != nil {
		if s.state.Context != nil {
			return protocol.ContextResult{Context: *s.state.Context, Usage: s.state.Usage, Limits: s.state.Limits}, nil
		}
		return nil, err
	}
	return nil, runAsync(s, cmd, s.slot.Preparation(), func(ctx context.Context) (r protocol.ContextResult, err error) {
		r.Context, r.Parts, err = m.Context(ctx)
		return r, err
	}, unlessFailed(func(r protocol.ContextResult) (any, error) {
		r.Usage, r.Limits = s.state.Usage, s.state.Limits
		return r, nil
	}))
}

func (s *Session) compact(cmd *command, _ *protocol.Empty) (any, error) {
	c, err := requireCapability[agent.Compactor](s, "compact its context")
	if err != nil {
		return nil, err
	}
	compacted := func(d protocol.ContextCompactedData) (any, error) {
		s.recorder.Record(protocol.ContextCompacted, &cmd.By, d)
		return protocol.CompactResult{Compacted: d}, nil
	}
	return nil, runAsync(s, cmd, s.slot.Preparation(), c.Compact, unlessFailed(compacted))
}

func (s *Session) configure(cmd *command, d *protocol.ConfigureData) (any, error) {
	if s.spec.SubAgent != nil {
		return nil, protocol.Errorf(protocol.CodeUnsupported, "a sub-agent has no settings: configure its parent")
	}
	if o := s.state.Options; o != nil { // else the agent knows them
		if set, value, err := protocol.ChooseSetting(o.Settings, d.Setting, d.Value); err == nil {
			d.Setting, d.Value = set.ID, value
		}
	}
	if d.Setting == policy.SettingID {
		if done, err := s.configurePolicy(cmd, d.Value); done || err != nil {
			return protocol.Empty{}, err
		}
	}
	if d.Setting == protocol.ContinueSetting {
		return setAfterLimit(s, cmd, d.Value)
	}
	c, err := requireCapability[agent.Configurer](s, "be configured")
	if err != nil {
		return nil, err
	}
	preparation := s.slot.Preparation()
	return nil, runAsync(s, cmd, preparation, func(ctx context.Context) (protocol.Empty, error) {
		err := preparation.Forget(ctx, d.Setting)
		if err == nil {
			err = c.Configure(ctx, d.Setting, d.Value)
		}
		return protocol.Empty{}, err
	}, unlessFailed(func(done protocol.Empty) (any, error) {
		if _, pending := s.spec.Settings[d.Setting]; pending {
			s.spec.Settings = maps.Clone(s.spec.Settings) // forks and agents share it
			delete(s.spec.Settings, d.Setting)
			s.storeSpec()
		}
		return done, nil
	}))
}

func (s *Session) snapshot(*command, *protocol.Empty) (any, error) {
	var process *protocol.AgentProcess
	if !s.state.Closed {
		process = s.slot.Info(s.spec.IdleEnd)
	}
	clients, count := s.subscribers.Clients("", s.journal.Log().Position().Seq)
	return protocol.SnapshotResult{
		Snapshot:    protocol.Snapshot{Epoch: s.journal.Log().Position().Epoch, State: s.state.Clone()},
		Status:      s.state.Status(),
		Clients:     clients,
		ClientCount: count,
		Process:     process,
	}, nil
}

// continuedPlan returns the message that restarts a task of a plan whose turn is over: it runs the
// plan again, without its completed tasks.
func continuedPlan(p *protocol.Plan, task string) (protocol.Message, error) {
	if p == nil {
		return protocol.Message{}, protocol.Errorf(protocol.CodeNotFound, "the session has no plan")
	}
	i := slices.IndexFunc(p.Tasks, func(t protocol.Task) bool { return t.ID == task })
	if i < 0 {
		return protocol.Message{}, protocol.Errorf(protocol.CodeNotFound, "the plan has no task %.80q", task)
	}
	run := protocol.PlanRunData{Question: p.Question, Summary: p.Summary, Tasks: slices.Clone(p.Tasks)}
	for j := range run.Tasks {
		if j == i || run.Tasks[j].Status != protocol.StatusCompleted {
			run.Tasks[j].Status = protocol.StatusPending
		}
	}
	return protocol.Message{
		Text:  "Restart the task " + p.Tasks[i].Title,
		Parts: []protocol.Part{{Type: partPlan, Data: protocol.MustEncode(run)}},
	}, nil
}

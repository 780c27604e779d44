package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/schedule"
)

// An Agent runs the turns of one session with the agents of its roles.
type Agent struct {
	// Static after New.
	options      Options
	spec         agent.Spec
	host         agent.Host
	capabilities agent.Capabilities

	usageMu sync.Mutex // held from adding up usage to its event; locked before mu
	saveMu  sync.Mutex // held from encoding the state to saving it; locked before mu

	mu      sync.Mutex
	state   state
	run     *run // nil: no turn
	inners  []*inner
	started time.Time               // zero: not started
	stop    context.CancelCauseFunc // of Start; nil: it does not run
	closed  bool

	schedule atomic.Pointer[schedule.Schedule] // nil: no tasks run

	runs sync.WaitGroup // Run and Start
}

var (
	_ agent.Agent          = (*Agent)(nil)
	_ agent.Starter        = (*Agent)(nil)
	_ agent.Configurer     = (*Agent)(nil)
	_ agent.TaskController = (*Agent)(nil)
	_ agent.Exporter       = (*Agent)(nil)
	_ agent.Explainer      = explainer{}
)

var errClosed = errors.New("the pipeline was closed")

func (a *Agent) errIsClosed() error {
	return protocol.Errorf(protocol.CodeShuttingDown, "%s is closed", a.options.Name)
}

// New returns the agent of a session. If all agents of its roles explain requests, it is a
// agent.Explainer.
func New(o Options, spec agent.Spec, host agent.Host) (agent.Agent, error) {
	if spec.Load != "" {
		return nil, protocol.Errorf(protocol.CodeUnsupported, "%s stores no sessions", o.Name)
	}
	s, err := decodeState(spec.State)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", o.Name, err)
	}
	a := &Agent{options: o, spec: spec, host: host, state: s}
	common, explains := a.inspectRoles()
	a.capabilities = agent.Capabilities{
		Resumes: common.Resumes, TakesReason: true, TakesPatch: common.TakesPatch, TakesCommand: common.TakesCommand,
		TakesServers: common.TakesServers,
		RunsPlans:    true, ContinuesPlans: true, ReadTools: common.ReadTools,
	}
	if explains {
		return explainer{a}, nil
	}
	return a, nil
}

// Capabilities implements agent.Agent.
func (a *Agent) Capabilities() agent.Capabilities { return a.capabilities }

// Run implements agent.Agent.
func (a *Agent) Run(ctx context.Context, turn agent.Turn, out agent.Output) (agent.End, error) {
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r := &run{agent: a, turn: turn, out: out, stop: stop, changed: changedFiles{dir: a.spec.CWD}}
	a.mu.Lock()
	if a.closed {
		a.mu.Unlock()
		return agent.End{}, a.errIsClosed()
	}
	a.run = r
	over := r.begin(&a.state)
	a.runs.Add(1)
	a.mu.Unlock()
	defer a.runs.Done()

	if err := a.announce(); err != nil || over != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.run = nil
		return *cmp.Or(over, &agent.End{}), err
	}
	end, err := r.work(work)
	var limit *limitError
	switch {
	case ctx.Err() != nil:
		end, err = agent.End{Reason: protocol.ReasonInterrupted}, nil
	case errors.As(err, &limit):
		end, err = agent.End{Reason: limit.reason, Message: limit.message}, nil
	}
	total := r.total()
	end.Usage = total.reported()
	a.mu.Lock()
	a.run = nil
	a.mu.Unlock()
	failed := a.change(func(s *state) {
		s.Usage = addUsage(r.usageBefore, total.usage)
		if ctx.Err() == nil && err == nil { // a canceled turn may continue after a restart
			s.endTurn()
			s.Turn, s.End = turn.ID, &end // the server may stop before it knows
		}
	}, out.Save)
	if failed != nil {
		a.host.Logf("save state of %s: %v", a.options.Name, failed)
	}
	return end, err
}

func (a *Agent) change(f func(*state), save func(state []byte) error) error {
	a.saveMu.Lock()
	defer a.saveMu.Unlock()
	a.mu.Lock()
	f(&a.state)
	b := a.state.encode()
	a.mu.Unlock()
	return save(b)
}

// Close implements agent.Agent.
func (a *Agent) Close() error {
	a.mu.Lock()
	a.closed = true
	r, inners := a.run, slices.Clone(a.inners)
	if a.stop != nil {
		a.stop(errClosed)
	}
	a.mu.Unlock()
	if r != nil {
		r.stop(errClosed)
	}
	errs := make([]error, len(inners))
	var closing sync.WaitGroup
	for i, in := range inners {
		closing.Go(func() { errs[i] = in.agent.Close() })
	}
	closing.Wait()
	a.runs.Wait()
	return errors.Join(errs...)
}

// Export implements agent.Exporter.
func (a *Agent) Export(context.Context) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.state
	s.endTurn()
	return s.encode(), nil
}

// addInner adds an agent that runs, unless the pipeline is closed.
func (a *Agent) addInner(in *inner) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	a.inners = append(a.inners, in)
	return true
}

// removeInner removes an agent and keeps its usage.
func (a *Agent) removeInner(in *inner) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.inners = slices.DeleteFunc(a.inners, func(other *inner) bool { return other == in })
	in.run.spent.add(in.spending())
}

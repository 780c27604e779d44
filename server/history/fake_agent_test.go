package history

import (
	"context"
	"sync"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// fakeAgents opens agents that a test controls.
type fakeAgents struct {
	mu     sync.Mutex
	opened []*fakeAgent
}

func (f *fakeAgents) Open(spec agent.Spec, host agent.Host) (agent.Agent, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a := &fakeAgent{all: f, session: spec.Session, host: host, closed: make(chan struct{})}
	f.opened = append(f.opened, a)
	return a, nil
}

func (f *fakeAgents) Names() []string { return []string{"fake"} }

// run returns the newest run that has not returned, or nil.
func (f *fakeAgents) run() *fakeRun {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := len(f.opened) - 1; i >= 0; i-- {
		if r := f.opened[i].current; r != nil {
			return r
		}
	}
	return nil
}

type fakeAgent struct {
	all     *fakeAgents
	session string
	host    agent.Host
	closed  chan struct{}
	once    sync.Once
	current *fakeRun // guarded by all.mu
}

// A fakeRun is a turn of a fakeAgent.
type fakeRun struct {
	session string
	ctx     context.Context
	out     agent.Output
	end     chan error
	res     agent.End // set before end
}

func (a *fakeAgent) Capabilities() agent.Capabilities { return agent.Capabilities{} }

func (a *fakeAgent) Run(ctx context.Context, _ agent.Turn, out agent.Output) (agent.End, error) {
	r := &fakeRun{session: a.session, ctx: ctx, out: out, end: make(chan error)}
	a.setCurrent(r)
	defer a.setCurrent(nil)
	select {
	case err := <-r.end:
		return r.res, err
	case <-ctx.Done():
		return agent.End{}, ctx.Err()
	case <-a.closed:
		return agent.End{}, context.Canceled
	}
}

func (a *fakeAgent) setCurrent(r *fakeRun) {
	a.all.mu.Lock()
	defer a.all.mu.Unlock()
	a.current = r
}

func (a *fakeAgent) Close() error {
	a.once.Do(func() { close(a.closed) })
	return nil
}

// emit emits events in the turn.
func (r *fakeRun) emit(events ...agent.Event) {
	for _, e := range events {
		_ = r.out.Emit(e)
	}
}

// ask requests a decision and does not wait for it.
func (r *fakeRun) ask(a protocol.Approval) {
	go func() { _, _ = r.out.Ask(r.ctx, a) }()
}

// finish ends the turn.
func (r *fakeRun) finish(end agent.End, err error) {
	r.res = end
	r.end <- err
}

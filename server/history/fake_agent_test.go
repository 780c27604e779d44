package history

import (
	"context"
	"sync"

	"agentctl/protocol"
	"agentctl/server/session"
)

// fakeAgents opens agents that a test controls.
type fakeAgents struct {
	mu     sync.Mutex
	opened []*fakeAgent
}

func (f *fakeAgents) Open(spec session.Spec, host session.Host) (session.Agent, error) {
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
	host    session.Host
	closed  chan struct{}
	once    sync.Once
	current *fakeRun // guarded by all.mu
}

// A fakeRun is a turn of a fakeAgent.
type fakeRun struct {
	session string
	ctx     context.Context
	out     session.Output
	end     chan error
	res     session.End // set before end
}

func (a *fakeAgent) Capabilities() session.Capabilities { return session.Capabilities{} }

func (a *fakeAgent) Run(ctx context.Context, _ session.Turn, out session.Output) (session.End, error) {
	r := &fakeRun{session: a.session, ctx: ctx, out: out, end: make(chan error)}
	a.setCurrent(r)
	defer a.setCurrent(nil)
	select {
	case err := <-r.end:
		return r.res, err
	case <-ctx.Done():
		return session.End{}, ctx.Err()
	case <-a.closed:
		return session.End{}, context.Canceled
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
func (r *fakeRun) emit(events ...session.Event) {
	for _, e := range events {
		_ = r.out.Emit(e)
	}
}

// ask requests a decision and does not wait for it.
func (r *fakeRun) ask(a protocol.Approval) {
	go func() { _, _ = r.out.Ask(r.ctx, a) }()
}

// finish ends the turn.
func (r *fakeRun) finish(end session.End, err error) {
	r.res = end
	r.end <- err
}

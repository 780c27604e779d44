package session

import (
	"context"
	"sync"

	"agentctl/protocol"
)

// puppets opens agents that do what the test tells them.
type puppets struct {
	mu     sync.Mutex
	traits Traits
	deaf   bool // agents do not hear an interrupt, only Close
	opened []*puppet
	refuse error
}

func (p *puppets) Open(spec Spec, host Host) (Agent, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuse != nil {
		return nil, p.refuse
	}
	a := &puppet{all: p, spec: spec, host: host, traits: p.traits, closed: make(chan struct{})}
	p.opened = append(p.opened, a)
	return a, nil
}

func (p *puppets) Names() []string { return []string{"puppet"} }

// run returns the newest run that has not returned, or nil.
func (p *puppets) run() *run {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.opened) - 1; i >= 0; i-- {
		if r := p.opened[i].now; r != nil {
			return r
		}
	}
	return nil
}

// runs returns every message that an agent was given, resumed ones too.
func (p *puppets) runs() []Turn {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []Turn
	for _, a := range p.opened {
		list = append(list, a.turns...)
	}
	return list
}

// puppet is an agent; it explains, too.
type puppet struct {
	all    *puppets
	spec   Spec
	host   Host
	traits Traits
	closed chan struct{}

	// guarded by all.mu
	now   *run
	turns []Turn
	gone  bool
}

// run is a turn of a puppet.
type run struct {
	agent *puppet
	ctx   context.Context
	turn  Turn
	out   Output
	do    chan func() // what the agent does next
	end   chan ended
	asked sync.WaitGroup

	mu       sync.Mutex
	verdicts map[string]Verdict
	failed   map[string]error
}

func (a *puppet) Traits() Traits { return a.traits }

func (a *puppet) Explain(context.Context, protocol.Approval) (string, error) { return "because", nil }

func (a *puppet) Run(ctx context.Context, turn Turn, out Output) (End, error) {
	r := &run{
		agent: a, ctx: ctx, turn: turn, out: out, do: make(chan func()), end: make(chan ended),
		verdicts: map[string]Verdict{}, failed: map[string]error{},
	}
	a.all.mu.Lock()
	a.now, a.turns = r, append(a.turns, turn)
	deaf := a.all.deaf
	a.all.mu.Unlock()
	defer func() {
		r.asked.Wait()
		a.all.mu.Lock()
		a.now = nil
		a.all.mu.Unlock()
	}()
	interrupted := ctx.Done()
	if deaf {
		interrupted = nil
	}
	for {
		select {
		case f := <-r.do:
			f()
		case e := <-r.end:
			return e.End, e.err
		case <-interrupted:
			return End{}, ctx.Err()
		case <-a.closed:
			return End{}, context.Canceled
		}
	}
}

func (a *puppet) Close() error {
	a.all.mu.Lock()
	if !a.gone {
		a.gone = true
		close(a.closed)
	}
	a.all.mu.Unlock()
	return nil
}

// say lets the agent emit; it returns when Emit did, or the run is over.
func (r *run) say(events ...Event) {
	done := make(chan struct{})
	f := func() {
		defer close(done)
		for _, e := range events {
			_ = r.out.Emit(e)
		}
	}
	select {
	case r.do <- f:
		<-done
	case <-r.agent.closed:
	case <-r.ctx.Done():
	}
}

// ask lets the agent ask, off the goroutine that runs the turn, and notes what it hears.
func (r *run) ask(a protocol.Approval) {
	r.asked.Go(func() {
		v, err := r.out.Ask(context.Background(), a)
		r.mu.Lock()
		defer r.mu.Unlock()
		if err != nil {
			r.failed[a.Request] = err
			return
		}
		r.verdicts[a.Request] = v
	})
}

// heard returns what the agent was told about a request.
func (r *run) heard(request string) (Verdict, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := r.verdicts[request]
	return v, ok
}

// finish ends the run; nothing happens when it is over.
func (r *run) finish(end End, err error) {
	select {
	case r.end <- ended{end, err}:
	case <-r.agent.closed:
	case <-r.ctx.Done():
	}
}

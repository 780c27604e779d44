package session

import (
	"context"
	"sync"

	"agentctl/protocol"
)

// puppets opens agents that do what the test tells them.
type puppets struct {
	mu     sync.Mutex
	traits Capabilities
	deaf   bool                                         // agents do not hear an interrupt, only Close
	skills func(ctx context.Context, what string) error // of agents that can do all there is; nil: they can do little
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
	if p.skills != nil {
		return skilled{a}, nil
	}
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
	traits Capabilities
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
	heed  <-chan struct{} // closed when the agent heeds an interrupt

	mu       sync.Mutex
	waiting  int // for verdicts
	verdicts map[string]Verdict
}

func (a *puppet) Capabilities() Capabilities { return a.traits }

func (a *puppet) Explain(context.Context, protocol.Approval) (string, error) { return "because", nil }

func (a *puppet) Run(ctx context.Context, turn Turn, out Output) (End, error) {
	r := &run{
		agent: a, ctx: ctx, turn: turn, out: out, do: make(chan func()), end: make(chan ended),
		verdicts: map[string]Verdict{},
	}
	a.all.mu.Lock()
	a.now, a.turns = r, append(a.turns, turn)
	if !a.all.deaf {
		r.heed = ctx.Done()
	}
	a.all.mu.Unlock()
	defer func() {
		a.all.mu.Lock()
		a.now = nil
		a.all.mu.Unlock()
	}()
	for {
		select {
		case f := <-r.do:
			f()
		case e := <-r.end:
			return e.End, e.err
		case <-r.heed:
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
	case <-r.heed:
	}
}

// ask lets the agent ask, off the goroutine that runs the turn, and notes what it hears. The run does not wait for it.
func (r *run) ask(a protocol.Approval) { r.askUntil(context.Background(), a) }

// askUntil lets the agent wait no longer than ctx.
func (r *run) askUntil(ctx context.Context, a protocol.Approval) {
	r.mu.Lock()
	r.waiting++
	r.mu.Unlock()
	go func() {
		v, err := r.out.Ask(ctx, a)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.waiting--
		if err == nil {
			r.verdicts[a.Request] = v
		}
	}()
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
	case <-r.heed:
	}
}

// skilled is a puppet that can do all that an agent may.
type skilled struct{ *puppet }

func (s skilled) Compact(ctx context.Context) (protocol.ContextCompactedData, error) {
	return protocol.ContextCompactedData{Before: 9, After: 1}, s.all.skills(ctx, "compact")
}

func (s skilled) Context(ctx context.Context) (protocol.ContextInfo, error) {
	return protocol.ContextInfo{Tokens: 5}, s.all.skills(ctx, "context")
}

func (s skilled) CancelTask(ctx context.Context, task string) error {
	return s.all.skills(ctx, "cancel "+task)
}

func (s skilled) RestartTask(ctx context.Context, task string) error {
	return s.all.skills(ctx, "restart "+task)
}

func (s skilled) Configure(ctx context.Context, setting, value string) error {
	return s.all.skills(ctx, setting+"="+value)
}

func (s skilled) Export(ctx context.Context) ([]byte, error) {
	return []byte("exported"), s.all.skills(ctx, "export")
}

package acp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/server/session"
)

// Deadlines that hold unless a Config says otherwise.
const (
	startTimeout  = 2 * time.Minute        // from the process's start until it takes prompts
	replayQuiet   = 200 * time.Millisecond // without an update, after which a replay is over
	cancelTimeout = 5 * time.Second        // from an interrupt until the turn's process is ended
	endGrace      = 2 * time.Second        // for each step of ending a process: its input closed, TERM, KILL
)

// Config says how to run an agent. Zero durations mean the defaults.
type Config struct {
	Name    string // for people
	Command []string
	Env     map[string]string // added to the server's
	Install string            // how to get the program, in words
	Login   string            // how to log in to it, in words

	StartTimeout  time.Duration
	CancelTimeout time.Duration
	EndGrace      time.Duration
}

// Agent runs the turns of one session on an ACP agent. Its process starts with the first turn, and anew with the next when
// it has gone.
type Agent struct {
	// Static after New.
	config Config
	spec   session.Spec
	host   session.Host
	life   context.Context // ends with Close
	end    context.CancelFunc

	starting chan struct{} // one place: whoever starts or ends the link holds it

	mu   sync.Mutex
	link *link // nil: no process
	kept state
}

var (
	_ session.Agent      = (*Agent)(nil)
	_ session.Configurer = (*Agent)(nil)
)

// New makes an agent for a session and starts nothing.
func New(config Config, spec session.Spec, host session.Host) (*Agent, error) {
	if len(config.Command) == 0 {
		return nil, protocol.Errorf(protocol.CodeNoAgent, "agent %s has no command", config.Name)
	}
	for _, d := range []struct {
		field *time.Duration
		v     time.Duration
	}{{&config.StartTimeout, startTimeout}, {&config.CancelTimeout, cancelTimeout}, {&config.EndGrace, endGrace}} {
		if *d.field == 0 {
			*d.field = d.v
		}
	}
	cwd, err := filepath.Abs(spec.CWD)
	if err != nil {
		return nil, fmt.Errorf("working directory of %s: %w", config.Name, err)
	}
	spec.CWD = cwd
	a := &Agent{config: config, spec: spec, host: host, starting: make(chan struct{}, 1), kept: loadState(spec.State)}
	a.life, a.end = context.WithCancel(context.Background())
	return a, nil
}

// Capabilities implements session.Agent. The protocol has no place for the reason of a decision, so the session sends it as a
// message.
func (a *Agent) Capabilities() session.Capabilities { return session.Capabilities{} }

// Run implements session.Agent.
func (a *Agent) Run(ctx context.Context, turn session.Turn, out session.Output) (session.End, error) {
	l, err := a.connect(ctx)
	if ctx.Err() != nil {
		return session.End{Reason: protocol.ReasonInterrupted}, nil
	}
	if err != nil {
		return session.End{}, err
	}
	if err := a.said(); err != nil {
		return session.End{}, fmt.Errorf("save that the conversation has begun: %w", err)
	}
	t := newTurn(ctx, turn.ID, out, a.spec.CWD)
	l.begin(t)
	defer l.finish(t)

	type answer struct {
		end session.End
		err error
	}
	answered := make(chan answer, 1)
	prompted, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	go func() {
		end, err := l.prompt(prompted, l.blocks(turn.Message, t))
		answered <- answer{end, err}
	}()
	select {
	case r := <-answered:
		if r.err == nil {
			return a.account(l, r.end, out), nil
		}
		return session.End{}, a.failed(l, r.err)
	case <-ctx.Done():
	}

	late, cancel := context.WithTimeout(prompted, a.config.CancelTimeout)
	defer cancel()
	if err := l.conn.Notify(late, "session/cancel", sessionID{l.session}); err != nil {
		a.host.Logf("interrupt %s: %v", a.config.Name, err)
	}
	end := session.End{Reason: protocol.ReasonInterrupted}
	select {
	case r := <-answered:
		end.Usage = a.account(l, r.end, out).Usage
	case <-late.Done():
		t.warn(fmt.Sprintf("%s did not stop within %v and was ended; it starts again with the next message", a.config.Name, a.config.CancelTimeout))
		l.close(0)
		<-answered
	}
	return end, nil
}

// Configure implements session.Configurer. It starts the agent when it does not run, since only it knows its settings.
func (a *Agent) Configure(ctx context.Context, setting, value string) error {
	l, err := a.connect(ctx)
	if err != nil {
		return err
	}
	if err := l.configure(ctx, setting, value); err != nil {
		return a.failed(l, err)
	}
	return a.keep(func(s *state) { s.set(setting, value) })
}

// Close implements session.Agent.
func (a *Agent) Close() error {
	a.end()
	a.starting <- struct{}{}
	defer func() { <-a.starting }()
	a.mu.Lock()
	l := a.link
	a.link = nil
	a.mu.Unlock()
	if l != nil {
		l.close(a.config.EndGrace)
	}
	return nil
}

// connect returns the link to the running agent, starting it when it does not run.
func (a *Agent) connect(ctx context.Context) (*link, error) {
	select {
	case a.starting <- struct{}{}:
		defer func() { <-a.starting }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if a.life.Err() != nil {
		return nil, a.closed()
	}
	a.mu.Lock()
	l, kept := a.link, a.kept
	a.mu.Unlock()
	if l != nil {
		if l.alive() {
			return l, nil
		}
		l.close(0)
	}

	ctx, cancel := context.WithTimeout(ctx, a.config.StartTimeout)
	defer cancel()
	defer context.AfterFunc(a.life, cancel)()
	l, err := a.start(ctx, kept)
	a.mu.Lock()
	a.link = l
	a.mu.Unlock()
	return l, err
}

func (a *Agent) closed() error {
	return protocol.Errorf(protocol.CodeShuttingDown, "%s is closed", a.config.Name)
}

// account adds what a turn has used to the session's sum.
func (a *Agent) account(l *link, end session.End, out session.Output) session.End {
	end = l.billed(end)
	if end.Usage == nil || *end.Usage == (protocol.Usage{}) {
		return end
	}
	var sum protocol.Usage
	err := a.keep(func(s *state) { sum = s.spend(end.Usage) })
	if err == nil {
		err = out.Emit(session.Event{Type: protocol.UsageUpdated, Data: sum})
	}
	if err != nil {
		a.host.Logf("usage of %s: %v", a.config.Name, err)
	}
	return end
}

// said notes that there is something to be taken up.
func (a *Agent) said() error {
	a.mu.Lock()
	said := a.kept.Said
	a.mu.Unlock()
	if said {
		return nil
	}
	return a.keep(func(s *state) { s.Said = true })
}

// keep changes what is saved.
func (a *Agent) keep(change func(*state)) error {
	a.mu.Lock()
	change(&a.kept)
	b := a.kept.encode()
	a.mu.Unlock()
	return a.host.Save(b)
}

// environment is the server's without its own secret, and what configuration and session add.
func (a *Agent) environment() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "AGENTCTL_TOKEN=") {
			env = append(env, kv)
		}
	}
	for _, m := range []map[string]string{a.config.Env, a.spec.Env} {
		for k, v := range m {
			env = append(env, k+"="+v)
		}
	}
	return env
}

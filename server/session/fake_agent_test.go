package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/policy"
)

// noConversations is the agent that stores no conversations.
const noConversations = "without conversations"

// fakeAgents opens agents that the test controls.
type fakeAgents struct {
	mu               sync.Mutex
	capabilities     agent.Capabilities
	ignoresInterrupt bool // agents stop only on Close
	steers           bool // agents take messages during a turn

	// capable answers the calls of all optional interfaces; nil: agents have only Explainer.
	capable func(ctx context.Context, what string) error

	starter *fakeStarter // of agents with a process; nil: they have none

	sandboxes map[string]protocol.Sandbox // by agent
	elsewhere string                      // the agent that runs on another machine

	opened []*fakeAgent
	refuse error
}

func (p *fakeAgents) Open(spec agent.Spec, host agent.Host) (agent.Agent, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuse != nil {
		return nil, p.refuse
	}
	a := &fakeAgent{all: p, spec: spec, host: host, capabilities: p.capabilities, closed: make(chan struct{})}
	p.opened = append(p.opened, a)
	if p.starter != nil {
		return &startingFakeAgent{fakeAgent: a, starter: p.starter}, nil
	}
	if p.capable != nil {
		return capableFakeAgent{a}, nil
	}
	return a, nil
}

func (p *fakeAgents) Names() []string { return []string{"fake"} }

func (p *fakeAgents) DefaultSandbox(agent string) protocol.Sandbox { return p.sandboxes[agent] }

// SandboxRefuses refuses files of the directory in the mode read-only, of git in the others, and sudo.
func (p *fakeAgents) SandboxRefuses(spec *agent.Spec, e *policy.Effect) error {
	if e.Program == "sudo" {
		return errors.New("sudo fails")
	}
	for _, path := range e.Files {
		name, err := filepath.Rel(spec.CWD, path)
		if err != nil || !filepath.IsLocal(name) || spec.Sandbox.Mode != protocol.SandboxReadOnly && name != ".git/config" {
			return nil
		}
	}
	if len(e.Files) == 0 {
		return nil
	}
	return errors.New("the sandbox does not change " + e.Files[0])
}

// HasSandboxes reports that users may choose one.
func (*fakeAgents) HasSandboxes() bool { return true }

// RunsElsewhere reports whether an agent is named by a URL, or configured with one.
func (p *fakeAgents) RunsElsewhere(agent string) bool {
	return agent != "" && agent == p.elsewhere || agent == "far" || strings.HasPrefix(agent, "acp:wss://")
}

// CheckSandbox refuses the sandboxes without a network.
func (p *fakeAgents) CheckSandbox(s protocol.Sandbox) error {
	if s.Network == protocol.SandboxNetworkOff {
		return protocol.Errorf(protocol.CodeUnsupported, "no sandbox without a network here: choose on")
	}
	return nil
}

func (p *fakeAgents) Keys(string) []string { return []string{"FAKE_KEY"} }

func (p *fakeAgents) HasConversations(agent string) bool { return agent != noConversations }

// Conversation returns the saved state as the agent's own id of its conversation.
func (p *fakeAgents) Conversation(spec *agent.Spec) string {
	return cmp.Or(string(spec.State), spec.Load)
}

// run returns the newest run that has not returned, or nil.
func (p *fakeAgents) run() *fakeRun {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.opened) - 1; i >= 0; i-- {
		if r := p.opened[i].now; r != nil {
			return r
		}
	}
	return nil
}

// runs returns the input of every Run, resumed turns included.
func (p *fakeAgents) runs() []agent.Turn {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []agent.Turn
	for _, a := range p.opened {
		list = append(list, a.turns...)
	}
	return list
}

// fakeAgent is an Agent and an Explainer.
type fakeAgent struct {
	all          *fakeAgents
	spec         agent.Spec
	host         agent.Host
	capabilities agent.Capabilities
	closed       chan struct{}

	// guarded by all.mu
	now   *fakeRun
	turns []agent.Turn
	gone  bool
}

// Steers implements agent.Steerer.
func (a *fakeAgent) Steers() bool {
	a.all.mu.Lock()
	defer a.all.mu.Unlock()
	return a.all.steers
}

// A turnResult is the result of Agent.Run.
type turnResult struct {
	agent.End
	err error
}

// fakeRun is a turn of a fakeAgent.
type fakeRun struct {
	agent       *fakeAgent
	ctx         context.Context
	turn        agent.Turn
	out         agent.Output
	do          chan func() // next step of the agent
	end         chan turnResult
	interrupted <-chan struct{} // closed when the agent stops for an interrupt

	mu       sync.Mutex
	waiting  int                // Ask calls
	taken    []protocol.Message // not resolved
	verdicts map[string]agent.Verdict
}

func (a *fakeAgent) Capabilities() agent.Capabilities { return a.capabilities }

func (a *fakeAgent) Explain(context.Context, protocol.Approval) (string, error) {
	return "because", nil
}

func (a *fakeAgent) Run(ctx context.Context, turn agent.Turn, out agent.Output) (agent.End, error) {
	r := &fakeRun{
		agent: a, ctx: ctx, turn: turn, out: out, do: make(chan func()), end: make(chan turnResult),
		verdicts: map[string]agent.Verdict{},
	}
	a.all.mu.Lock()
	a.now, a.turns = r, append(a.turns, turn)
	if !a.all.ignoresInterrupt {
		r.interrupted = ctx.Done()
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
		case <-r.interrupted:
			return agent.End{}, ctx.Err()
		case <-a.closed:
			return agent.End{}, context.Canceled
		}
	}
}

func (a *fakeAgent) Close() error {
	a.all.mu.Lock()
	if !a.gone {
		a.gone = true
		close(a.closed)
	}
	a.all.mu.Unlock()
	return nil
}

// emit emits events as the agent. It returns after the last Emit, or when the run is over.
func (r *fakeRun) emit(events ...agent.Event) {
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
	case <-r.interrupted:
	}
}

// ask makes a request on another goroutine, which keeps the verdict.
func (r *fakeRun) ask(a protocol.Approval) { r.askUntil(context.Background(), a) }

// askUntil is ask with a context.
func (r *fakeRun) askUntil(ctx context.Context, a protocol.Approval) {
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

// take takes messages on another goroutine, if some wait. check is called with each.
func (r *fakeRun) take(check func(protocol.Message)) {
	select {
	case <-r.turn.Steering.Waiting():
	default:
		return
	}
	go func() {
		messages, err := r.turn.Steering.Take()
		if err != nil {
			return
		}
		for _, m := range messages {
			check(m)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.taken = append(r.taken, messages...)
	}()
}

// resolve resolves the first message that was taken, on another goroutine.
func (r *fakeRun) resolve(outcome protocol.SteerOutcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.taken) == 0 {
		return
	}
	d := protocol.MessageResolvedData{MessageID: r.taken[0].MessageID, Outcome: outcome, Reason: "so"}
	r.taken = r.taken[1:]
	go func() { _ = r.turn.Steering.Resolve(d, nil) }() // fails when the turn is over
}

// takenTexts returns the texts of the messages that were taken and not resolved.
func (r *fakeRun) takenTexts() (texts []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.taken {
		texts = append(texts, m.Text)
	}
	return texts
}

// verdict returns the verdict on a request.
func (r *fakeRun) verdict(request string) (agent.Verdict, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := r.verdicts[request]
	return v, ok
}

// finish ends the run, unless it is over.
func (r *fakeRun) finish(end agent.End, err error) {
	select {
	case r.end <- turnResult{end, err}:
	case <-r.agent.closed:
	case <-r.interrupted:
	}
}

// capableFakeAgent is a fakeAgent with all optional interfaces.
type capableFakeAgent struct{ *fakeAgent }

func (s capableFakeAgent) Compact(ctx context.Context) (protocol.ContextCompactedData, error) {
	return protocol.ContextCompactedData{Before: 9, After: 1}, s.all.capable(ctx, "compact")
}

func (s capableFakeAgent) Context(ctx context.Context) (protocol.ContextInfo, []protocol.ContextPart, error) {
	return protocol.ContextInfo{Tokens: 5}, nil, s.all.capable(ctx, "context")
}

func (s capableFakeAgent) CancelTask(ctx context.Context, task string) error {
	return s.all.capable(ctx, "cancel "+task)
}

func (s capableFakeAgent) RestartTask(ctx context.Context, task string) error {
	return s.all.capable(ctx, "restart "+task)
}

func (s capableFakeAgent) Configure(ctx context.Context, setting, value string) error {
	return s.all.capable(ctx, setting+"="+value)
}

func (s capableFakeAgent) Export(ctx context.Context) ([]byte, error) {
	return []byte("exported"), s.all.capable(ctx, "export")
}

func (s capableFakeAgent) Fork(ctx context.Context, turn string) ([]byte, []agent.Blob, error) {
	return []byte("forked"), []agent.Blob{agent.NewBlob("image/png", []byte("image"))}, s.all.capable(ctx, "fork "+turn)
}

func (s capableFakeAgent) Undo(ctx context.Context, files bool) (agent.Undone, error) {
	err := s.all.capable(ctx, fmt.Sprint("undo ", files))
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	if err != nil || len(s.turns) == 0 {
		return agent.Undone{}, cmp.Or(err, error(protocol.Errorf(protocol.CodeConflict, "no turn")))
	}
	return agent.Undone{Turn: s.turns[len(s.turns)-1].ID}, nil
}

// fakeStarter is the common part of agents with a process.
type fakeStarter struct {
	mu       sync.Mutex
	refuse   error         // of Start
	block    chan struct{} // Start and Close wait for it; nil: they do not
	restores bool
	choices  map[string]string // the one value that each setting accepts

	started, running int // processes, in all and now
	applied          []string
}

// set changes the starter.
func (f *fakeStarter) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// startingFakeAgent is a fakeAgent with a process and settings.
type startingFakeAgent struct {
	*fakeAgent
	starter *fakeStarter

	since time.Time // zero: no process; guarded by starter.mu
}

func (a *startingFakeAgent) Start(ctx context.Context) error {
	a.starter.mu.Lock()
	block := a.starter.block
	a.starter.mu.Unlock()
	if block != nil {
		select {
		case <-block:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	a.starter.mu.Lock()
	defer a.starter.mu.Unlock()
	if a.starter.refuse != nil {
		return a.starter.refuse
	}
	if a.since.IsZero() {
		a.since = time.Now()
		a.starter.started++
		a.starter.running++
	}
	return nil
}

func (a *startingFakeAgent) Process() agent.Process {
	a.starter.mu.Lock()
	defer a.starter.mu.Unlock()
	return agent.Process{Running: !a.since.IsZero(), Since: a.since, Restores: a.starter.restores}
}

func (a *startingFakeAgent) Configure(_ context.Context, setting, value string) error {
	a.starter.mu.Lock()
	defer a.starter.mu.Unlock()
	if want, ok := a.starter.choices[setting]; ok && want != value {
		return protocol.Errorf(protocol.CodeInvalidMessage, "%s: choose %s", setting, want)
	}
	a.starter.applied = append(a.starter.applied, setting+"="+value)
	return nil
}

func (a *startingFakeAgent) Run(ctx context.Context, turn agent.Turn, out agent.Output) (agent.End, error) {
	if err := a.Start(ctx); err != nil {
		return agent.End{}, err
	}
	return a.fakeAgent.Run(ctx, turn, out)
}

func (a *startingFakeAgent) Close() error {
	a.starter.mu.Lock()
	block := a.starter.block
	a.starter.mu.Unlock()
	if block != nil {
		<-block
	}
	a.starter.mu.Lock()
	if !a.since.IsZero() {
		a.since = time.Time{}
		a.starter.running--
	}
	a.starter.mu.Unlock()
	return a.fakeAgent.Close()
}

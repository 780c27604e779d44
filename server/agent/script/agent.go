package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"agentctl/protocol"
	"agentctl/server/session"
)

var (
	_ session.Explainer      = (*agent)(nil)
	_ session.Compactor      = (*agent)(nil)
	_ session.Measurer       = (*agent)(nil)
	_ session.TaskController = (*agent)(nil)
	_ session.Configurer     = (*agent)(nil)
	_ session.Exporter       = (*agent)(nil)
)

// An agent plays a script for one session.
type agent struct {
	// Static after Open.
	script *Script
	spec   session.Spec
	host   session.Host

	// saving orders saves as the memories they hold. It is taken before mu.
	saving sync.Mutex

	mu       sync.Mutex
	memory   memory
	why      map[string]string // explanations of pending requests
	crew     *crew             // of the plan being solved
	children []*child
}

// Open makes an agent that plays the script. It fails when the spec's state is not one of this agent.
func (s *Script) Open(spec session.Spec, host session.Host) (session.Agent, error) {
	m, err := readMemory(spec.State)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", s.name, err)
	}
	return &agent{script: s, spec: spec, host: host, memory: m, why: map[string]string{}}, nil
}

func (a *agent) Capabilities() session.Capabilities {
	return session.Capabilities{Resumes: a.script.resumes, TakesReason: true, TakesPatch: true, RunsPlans: true}
}

func (a *agent) Run(ctx context.Context, turn session.Turn, out session.Output) (session.End, error) {
	a.mu.Lock()
	before := a.memory.begin(&turn)
	heard := a.memory.Tokens
	r := &round{agent: a, turn: turn, out: out, n: a.memory.Messages, before: before}
	a.mu.Unlock()

	l := r.lane("", "", before.Lanes[""])
	var err error
	if a.script.resumes {
		err = a.save(out)
	}
	if err == nil {
		err = r.steps().run(ctx, l)
	}
	if err == nil && a.script.window > 0 {
		info, _ := a.Context(ctx)
		err = l.tell(ctx, protocol.ContextUpdated, info)
	}
	var e ended
	switch {
	case ctx.Err() != nil:
		e = ended{Reason: protocol.ReasonInterrupted}
	case err == nil:
		e = ended{Reason: protocol.ReasonCompleted}
	case !errors.As(err, &e):
		return session.End{}, err
	}

	a.mu.Lock()
	if ctx.Err() == nil { // else the turn may go on after a restart
		a.memory.Turn = nil
	}
	if e.Usage == nil {
		e.Usage = &protocol.Usage{Input: heard, Output: a.memory.Tokens - heard, Model: "script"}
	}
	a.mu.Unlock()
	if err := a.save(a.host); err != nil {
		a.host.Logf("save the script agent's state: %v", err)
	}
	return session.End(e), nil
}

// steps returns what is played for the turn's message.
func (r *round) steps() steps {
	var all steps
	if options := r.agent.script.options; options != nil && r.n == 1 {
		all = append(all, &emit{Type: protocol.AgentOptions, data: r.agent.options()})
	}
	if r.turn.Plan != nil {
		return append(all, r.agent.script.solving(r.turn.Plan))
	}
	if found, ok := r.agent.script.match(r.n, r.turn.Message.Text); ok {
		return append(all, found...)
	}
	return append(all, &say{Text: "You said: {message}"})
}

// note changes the memory with an event and emits it; where a restart may cut the turn, the memory is kept in one with it.
func (a *agent) note(l *lane, e session.Event, apply ...func(*memory)) error {
	if a.script.resumes {
		a.saving.Lock() // an older memory must not be kept last
		defer a.saving.Unlock()
	}
	a.mu.Lock()
	for _, f := range apply {
		f(&a.memory)
	}
	if t := a.memory.Turn; t != nil {
		t.Lanes[l.key] = l.done
	}
	a.mu.Unlock()
	if a.script.resumes {
		state, err := a.Export(context.Background())
		if err != nil {
			return err
		}
		e.Save = state
	}
	return l.out.Emit(e)
}

type saver interface{ Save(state []byte) error }

// save keeps the memory. Without the lock around both, an older memory could be kept last.
func (a *agent) save(to saver) error {
	a.saving.Lock()
	defer a.saving.Unlock()
	state, err := a.Export(context.Background())
	if err != nil {
		return err
	}
	return to.Save(state)
}

// Export hands out the memory.
func (a *agent) Export(context.Context) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return json.Marshal(&a.memory)
}

// explains sets what Explain answers about a pending request; empty: nothing any more.
func (a *agent) explains(request, why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if why == "" {
		delete(a.why, request)
		return
	}
	a.why[request] = why
}

// Explain answers with the text of the ask step.
func (a *agent) Explain(_ context.Context, req protocol.Approval) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	why, ok := a.why[req.Request]
	if !ok {
		return "", protocol.Errorf(protocol.CodeUnsupported, "the script has no explanation")
	}
	return why, nil
}

// Context tells numbers that follow from what was said, or those that a step set.
func (a *agent) Context(context.Context) (protocol.ContextInfo, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.memory.measure(a.script.window), nil
}

// Compact leaves a quarter.
func (a *agent) Compact(context.Context) (protocol.ContextCompactedData, error) {
	a.mu.Lock()
	before := a.memory.measure(a.script.window)
	a.memory.Context = nil
	a.memory.Tokens = before.Tokens / 4
	a.memory.Transcript = 1
	d := protocol.ContextCompactedData{Before: before.Tokens, After: a.memory.Tokens, Strategy: "summary"}
	if d.Before > 0 {
		d.Percent = 100 * float64(d.Before-d.After) / float64(d.Before)
	}
	a.mu.Unlock()
	if err := a.save(a.host); err != nil {
		return d, fmt.Errorf("compact: %w", err)
	}
	return d, nil
}

// options returns the script's options with the values of now.
func (a *agent) options() protocol.Options {
	o := *a.script.options
	o.Settings = a.settings()
	return o
}

func (a *agent) settings() []protocol.Setting {
	if a.script.options == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	all := slices.Clone(a.script.options.Settings)
	for i := range all {
		if v, ok := a.memory.Settings[all[i].ID]; ok {
			all[i].Value = v
		}
	}
	return all
}

// Configure sets one of the script's settings.
func (a *agent) Configure(_ context.Context, setting, value string) error {
	all := a.settings()
	i := slices.IndexFunc(all, func(s protocol.Setting) bool { return s.ID == setting })
	if i < 0 {
		return protocol.Errorf(protocol.CodeNotFound, "there is no setting %.80q", setting)
	}
	if c := all[i].Choices; len(c) > 0 && !slices.ContainsFunc(c, func(c protocol.Choice) bool { return c.ID == value }) {
		return protocol.Errorf(protocol.CodeInvalidMessage, "%.80q is no choice of %s", value, setting)
	}
	a.mu.Lock()
	a.memory.Settings[setting] = value
	a.mu.Unlock()
	if err := a.host.Emit(session.Event{Type: protocol.AgentOptions, Data: a.options()}); err != nil {
		return fmt.Errorf("configure: %w", err)
	}
	if err := a.save(a.host); err != nil {
		return fmt.Errorf("configure: %w", err)
	}
	return nil
}

// Close ends the processes of spawn steps.
func (a *agent) Close() error {
	a.mu.Lock()
	children := a.children
	a.children = nil
	a.mu.Unlock()
	var errs []error
	for _, c := range children {
		errs = append(errs, c.end(a.host))
	}
	return errors.Join(errs...)
}

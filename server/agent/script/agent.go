package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/schedule"
)

var (
	_ agent.Explainer      = (*scriptAgent)(nil)
	_ agent.Compactor      = (*scriptAgent)(nil)
	_ agent.Measurer       = (*scriptAgent)(nil)
	_ agent.TaskController = (*scriptAgent)(nil)
	_ agent.Configurer     = (*scriptAgent)(nil)
	_ agent.Exporter       = (*scriptAgent)(nil)
)

// A scriptAgent plays a script for one session.
type scriptAgent struct {
	// Static after Open.
	script *Script
	spec   agent.Spec
	host   agent.Host

	// saveMu is held from encoding the state to saving it, so an older state is never saved last.
	// Locked before mu.
	saveMu sync.Mutex

	mu           sync.Mutex
	state        agentState
	explanations map[string]string // by pending request
	children     []*child

	schedule atomic.Pointer[schedule.Schedule] // of the running plan, or nil
}

// Open returns an agent that plays the script. The error for a state of another agent has the code
// invalid_state.
func (s *Script) Open(spec agent.Spec, host agent.Host) (agent.Agent, error) {
	state, err := decodeState(spec.State)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", s.name, err)
	}
	return &scriptAgent{script: s, spec: spec, host: host, state: state, explanations: map[string]string{}}, nil
}

func (a *scriptAgent) Capabilities() agent.Capabilities {
	return agent.Capabilities{Resumes: a.script.resumes, TakesReason: true, TakesPatch: true, RunsPlans: true}
}

func (a *scriptAgent) Run(ctx context.Context, turn agent.Turn, out agent.Output) (agent.End, error) {
	a.mu.Lock()
	prior := a.state.beginTurn(&turn)
	inputTokens := a.state.Tokens
	t := &turnRun{agent: a, turn: turn, out: out, number: a.state.Messages, prior: prior}
	a.mu.Unlock()
	if prior.End != nil { // the server stopped before it knew
		return *prior.End, nil
	}

	defer t.refuseSteered()
	r := t.newRunner("", "", prior.Emitted[""])
	var err error
	if a.script.resumes {
		err = a.save(out.Save)
	}
	if err == nil {
		err = t.steps().run(ctx, r)
	}
	if err == nil && a.script.window > 0 {
		info, _, _ := a.Context(ctx)
		err = r.emitData(ctx, protocol.ContextUpdated, info)
	}
	var e endError
	switch {
	case ctx.Err() != nil:
		e = endError{Reason: protocol.ReasonInterrupted}
	case err == nil:
		e = endError{Reason: protocol.ReasonCompleted}
	case !errors.As(err, &e):
		return agent.End{}, err
	}

	a.mu.Lock()
	if e.Usage == nil {
		e.Usage = &protocol.Usage{Input: inputTokens, Output: a.state.Tokens - inputTokens, Model: "script"}
	}
	end := agent.End(e)
	switch {
	case !a.script.resumes:
		a.state.Turn = nil
	case ctx.Err() == nil: // an interrupted turn may continue after a restart
		a.state.Turn.End = &end
	}
	a.mu.Unlock()
	if err := a.save(a.host.Save); err != nil {
		a.host.Logf("save state of script agent: %v", err)
	}
	return end, nil
}

// record changes the state and calls emit with the state to save; nil: the script does not resume.
func (a *scriptAgent) record(r *runner, emit func(state []byte) error, apply ...func(*agentState)) error {
	if a.script.resumes {
		a.saveMu.Lock()
		defer a.saveMu.Unlock()
	}
	a.mu.Lock()
	for _, f := range apply {
		f(&a.state)
	}
	if t := a.state.Turn; t != nil {
		t.Emitted[r.key] = r.done
	}
	a.mu.Unlock()
	var state []byte
	if a.script.resumes {
		var err error
		if state, err = a.Export(context.Background()); err != nil {
			return err
		}
	}
	return emit(state)
}

// save saves the state with a function.
func (a *scriptAgent) save(save func(state []byte) error) error {
	a.saveMu.Lock()
	defer a.saveMu.Unlock()
	state, err := a.Export(context.Background())
	if err != nil {
		return err
	}
	return save(state)
}

// Export returns the state.
func (a *scriptAgent) Export(context.Context) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return json.Marshal(&a.state)
}

// setExplanation sets the answer of Explain about a pending request. An empty text removes it.
func (a *scriptAgent) setExplanation(request, why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if why == "" {
		delete(a.explanations, request)
		return
	}
	a.explanations[request] = why
}

// Explain returns the explanation of the ask step. Its error code without one is unsupported.
func (a *scriptAgent) Explain(_ context.Context, req protocol.Approval) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	why, ok := a.explanations[req.Request]
	if !ok {
		return "", protocol.Errorf(protocol.CodeUnsupported, "the script has no explanation")
	}
	return why, nil
}

// Context returns the context usage: as set by a step, or else an estimate from the text.
func (a *scriptAgent) Context(context.Context) (protocol.ContextInfo, []protocol.ContextPart, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.state.contextInfo(a.script.window), nil, nil
}

// Compact keeps a quarter of the tokens.
func (a *scriptAgent) Compact(context.Context) (protocol.ContextCompactedData, error) {
	a.mu.Lock()
	before := a.state.contextInfo(a.script.window)
	a.state.Context = nil
	a.state.Tokens = before.Tokens / 4
	a.state.Transcript = 1
	d := protocol.ContextCompactedData{Before: before.Tokens, After: a.state.Tokens, Strategy: "summary"}
	if d.Before > 0 {
		d.Percent = 100 * float64(d.Before-d.After) / float64(d.Before)
	}
	a.mu.Unlock()
	if err := a.save(a.host.Save); err != nil {
		return d, fmt.Errorf("compact: %w", err)
	}
	return d, nil
}

// options returns the options of the script with the current values.
func (a *scriptAgent) options() protocol.Options {
	o := *a.script.options
	o.Settings = a.settings()
	if a.script.steers {
		o.Features = []string{protocol.FeatureSteer}
	}
	return o
}

func (a *scriptAgent) settings() []protocol.Setting {
	if a.script.options == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	all := slices.Clone(a.script.options.Settings)
	for i := range all {
		if v, ok := a.state.Settings[all[i].ID]; ok {
			all[i].Value = v
		}
	}
	return all
}

// Configure sets a setting of the script.
func (a *scriptAgent) Configure(_ context.Context, setting, value string) error {
	set, value, err := protocol.ChooseSetting(a.settings(), setting, value)
	if err != nil {
		return err
	}
	a.mu.Lock()
	a.state.Settings[set.ID] = value
	a.mu.Unlock()
	if err := a.host.Emit(agent.Event{Type: protocol.AgentOptions, Data: a.options()}); err != nil {
		return fmt.Errorf("configure: %w", err)
	}
	if err := a.save(a.host.Save); err != nil {
		return fmt.Errorf("configure: %w", err)
	}
	return nil
}

// Close stops the processes of spawn steps.
func (a *scriptAgent) Close() error {
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

type turnRun struct {
	agent  *scriptAgent
	turn   agent.Turn
	out    agent.Output
	number int          // number of the message in the session, from 1
	prior  turnProgress // progress before a restart

	steered []protocol.Message // taken, without an outcome; owned by the steps of the turn
}

// newRunner returns a runner that skips the first done events.
func (t *turnRun) newRunner(key, task string, done int) *runner {
	return &runner{turnRun: t, key: key, task: task, skip: done, done: done}
}

// steps returns the steps for the message or plan of the turn.
func (t *turnRun) steps() steps {
	var all steps
	if options := t.agent.script.options; options != nil && t.number == 1 {
		all = append(all, &emit{Type: protocol.AgentOptions, data: t.agent.options()})
	}
	if t.turn.Plan != nil {
		return append(all, t.agent.script.planFor(t.turn.Plan))
	}
	if found, ok := t.agent.script.match(t.number, t.turn.Message.Text); ok {
		return append(all, found...)
	}
	return append(all, &say{Text: "You said: {message}"})
}

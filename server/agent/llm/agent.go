package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/llm/model"
)

// An Agent holds the conversation of one session with a model.
type Agent struct {
	// Static after New.
	options Options
	spec    agent.Spec
	host    agent.Host

	locks

	mu      sync.Mutex
	state   state
	opened            // by mu
	started time.Time // zero: not started
	running bool      // a turn runs

	models *modelMenu

	parent *Agent // of a sub-agent; nil: not a sub-agent
	tasks  *taskRuns
}

// locks are held during operations that may wait: compactMu before the others, and all before mu.
type locks struct {
	compactMu sync.Mutex // while the context is compacted
	saveMu    sync.Mutex // from encoding the state to saving it
	openMu    sync.Mutex // while the model or the tools open
}

// opened is what an agent opens when it first needs it; nil: not open.
type opened struct {
	backend *model.Backend
	prompt  string // for the backend
	toolbox Toolbox
}

var (
	_ agent.Agent      = (*Agent)(nil)
	_ agent.Starter    = (*Agent)(nil)
	_ agent.Explainer  = (*Agent)(nil)
	_ agent.Measurer   = (*Agent)(nil)
	_ agent.Compactor  = (*Agent)(nil)
	_ agent.Configurer = (*Agent)(nil)
	_ agent.Exporter   = (*Agent)(nil)
	_ agent.Forker     = (*Agent)(nil)
	_ agent.Undoer     = (*Agent)(nil)
)

// New returns the agent of a session. It opens nothing.
func New(o Options, spec agent.Spec, host agent.Host) (*Agent, error) {
	if spec.Load != "" {
		return nil, protocol.Errorf(protocol.CodeUnsupported, "%s stores no sessions", o.Name)
	}
	s, err := decodeState(spec.State)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", o.Name, err)
	}
	return &Agent{
		options: o, spec: spec, host: host, state: s, models: newModelMenu(&o), tasks: newTaskRuns(),
	}, nil
}

// Capabilities implements agent.Agent.
func (a *Agent) Capabilities() agent.Capabilities {
	return agent.Capabilities{
		Resumes: true, TakesReason: true, TakesPatch: true, TakesCommand: true, TakesServers: true,
		HasPolicy: true,
	}
}

// Start opens the model and the tools and emits the settings.
func (a *Agent) Start(ctx context.Context) error {
	if _, _, err := a.open(ctx); err != nil {
		return err
	}
	a.mu.Lock()
	first := a.started.IsZero()
	if first {
		a.started = time.Now()
	}
	a.mu.Unlock()
	if !first {
		return nil
	}
	err := errors.Join(a.emitOptions(), a.warnOfPolicy())
	if a.parent == nil {
		a.models.load(a.tryEmitOptions)
	}
	return err
}

// Process implements agent.Starter. The stored state restores the conversation.
func (a *Agent) Process() agent.Process {
	a.mu.Lock()
	defer a.mu.Unlock()
	return agent.Process{Running: !a.started.IsZero(), Since: a.started, Restores: true}
}

// open returns the model and the tools. The tools are nil if the agent has none.
func (a *Agent) open(ctx context.Context) (*model.Backend, Toolbox, error) {
	a.openMu.Lock()
	defer a.openMu.Unlock()
	a.mu.Lock()
	backend, toolbox, prompt, name := a.backend, a.toolbox, a.prompt, a.modelName()
	a.mu.Unlock()
	if backend == nil {
		b, err := a.options.Open(ctx, name)
		if err != nil {
			return nil, nil, openError(a.options.Name, err)
		}
		backend = &b
		if prompt, err = instructions(&a.options.Config, b.Window, a.parent != nil); err != nil {
			return nil, nil, err
		}
	}
	if toolbox == nil && a.options.Toolbox != nil {
		t, err := a.options.Toolbox(a.spec, a.host)
		if err != nil {
			return nil, nil, fmt.Errorf("open tools: %w", err)
		}
		toolbox = t
		if s, ok := t.(Servers); ok {
			s.Notify(a.tryEmitOptions)
		}
		a.mu.Lock()
		seen := slices.Clone(a.state.Seen)
		a.mu.Unlock()
		t.Recall(seen)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.toolbox = toolbox
	if a.modelName() == name { // not changed since
		a.backend, a.prompt = backend, prompt
	}
	return backend, toolbox, nil
}

// modelName returns the name of the model. The lock is held.
func (a *Agent) modelName() string { return cmp.Or(a.state.Model, a.options.Config.Model) }

// forgetModel opens the model again before the next request: with a new key.
func (a *Agent) forgetModel() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.backend = nil
}

// saver stores the state.
type saver interface{ Save(state []byte) error }

// update changes the state and stores it.
func (a *Agent) update(to saver, f func(*state)) error {
	return a.change(f, to.Save)
}

// record changes the state, and stores it in one commit with an event.
func (a *Agent) record(out agent.Output, e agent.Event, f func(*state)) error {
	return a.change(f, func(b []byte) error {
		e.Save = b
		return out.Emit(e)
	})
}

func (a *Agent) change(f func(*state), store func([]byte) error) error {
	a.saveMu.Lock()
	defer a.saveMu.Unlock()
	a.mu.Lock()
	f(&a.state)
	blobs, left := a.state.takeFiles(), a.state.boundFiles()
	b, cut, err := a.state.encode()
	a.mu.Unlock()
	if err != nil {
		return err
	}
	for _, blob := range blobs {
		if err := a.host.SaveBlob(blob); err != nil {
			return err
		}
	}
	if err := store(b); err != nil {
		return err
	}
	if len(left) > 0 {
		err = warn(a.host, "the model does not see older files any more: "+strings.Join(left, ", "))
	}
	if cut {
		const text = "the conversation was too large to be stored: the model does not see all of it any more"
		err = errors.Join(err, warn(a.host, text))
	}
	return err
}

// Export returns the state with its newest files.
func (a *Agent) Export(ctx context.Context) ([]byte, error) {
	a.mu.Lock()
	s := a.state
	a.mu.Unlock()
	left, err := s.includeFiles(ctx, a.host)
	if err != nil {
		return nil, err
	}
	if len(left) > 0 {
		if err := warn(a.host, "not in the exported state: "+strings.Join(left, ", ")); err != nil {
			return nil, err
		}
	}
	b, _, err := s.encode()
	return b, err
}

// Close closes the tools.
func (a *Agent) Close() error {
	a.models.close()
	a.openMu.Lock()
	defer a.openMu.Unlock()
	a.mu.Lock()
	toolbox := a.toolbox
	a.toolbox, a.started = nil, time.Time{}
	a.mu.Unlock()
	if toolbox == nil {
		return nil
	}
	return toolbox.Close()
}

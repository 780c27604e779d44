package slot

import (
	"context"
	"maps"
	"slices"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// A Preparation is the work on an agent before its first turn. Its methods may be called from any
// goroutine.
type Preparation struct {
	former   <-chan struct{}   // closed when the previous agent has exited; nil: none
	busy     chan struct{}     // capacity 1; held while one goroutine prepares
	settings map[string]string // not applied yet; guarded by busy
}

func newPreparation(former <-chan struct{}, settings map[string]string) *Preparation {
	return &Preparation{former: former, busy: make(chan struct{}, 1), settings: maps.Clone(settings)}
}

// Replace replaces the settings to be applied. It is called before the preparation begins.
func (p *Preparation) Replace(settings map[string]string) { p.settings = maps.Clone(settings) }

// acquire waits until the previous agent has exited and no other goroutine prepares this one.
func (p *Preparation) acquire(ctx context.Context) error {
	select {
	case p.busy <- struct{}{}:
	default:
		select {
		case p.busy <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if p.former == nil {
		return nil
	}
	select {
	case <-p.former:
		return nil
	case <-ctx.Done():
		p.release()
		return ctx.Err()
	}
}

func (p *Preparation) release() { <-p.busy }

// Wait waits until the previous agent has exited and no goroutine prepares this one.
func (p *Preparation) Wait(ctx context.Context) error {
	if err := p.acquire(ctx); err != nil {
		return err
	}
	p.release()
	return nil
}

// Forget drops a setting that is not applied yet: a user has chosen another value.
func (p *Preparation) Forget(ctx context.Context, setting string) error {
	if err := p.acquire(ctx); err != nil {
		return err
	}
	defer p.release()
	delete(p.settings, setting)
	return nil
}

// Prepare waits until the previous agent has exited and applies the pending settings. With start,
// or before settings, it starts the process. It then calls applied with the settings that are still
// pending, unless none were before: the agent has saved the others.
func (p *Preparation) Prepare(
	ctx context.Context, a agent.Agent, start bool, applied func(left map[string]string),
) error {
	if err := p.acquire(ctx); err != nil {
		return err
	}
	defer p.release()
	if starter, ok := a.(agent.Starter); ok && (start || len(p.settings) > 0) {
		if err := starter.Start(ctx); err != nil {
			return err
		}
	}
	if len(p.settings) == 0 {
		return nil
	}
	err := apply(ctx, a, p.settings)
	applied(maps.Clone(p.settings))
	return err
}

// apply configures the agent and removes applied settings from settings. A setting may change the
// choices of another, so refused ones are tried again after others were applied.
func apply(ctx context.Context, a agent.Agent, settings map[string]string) error {
	c, ok := a.(agent.Configurer)
	if !ok {
		return protocol.Errorf(protocol.CodeUnsupported, "the agent has no settings")
	}
	for len(settings) > 0 {
		var refused error
		left := len(settings)
		for _, name := range slices.Sorted(maps.Keys(settings)) {
			err := c.Configure(ctx, name, settings[name])
			if err == nil {
				delete(settings, name)
			} else if refused == nil {
				refused = err
			}
		}
		if len(settings) == left {
			return refused
		}
	}
	return nil
}

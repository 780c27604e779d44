package tui

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/panics"
)

// errands runs what the model wants done outside of it, and lets the program
// wait for all of it before it ends.
type errands struct {
	ctx    context.Context
	cancel context.CancelFunc
	broke  func(error) // told of an errand's panic; nil: it goes on as one. Static once the program runs

	mu     sync.Mutex
	closed bool
	under  sync.WaitGroup
}

func newErrands(ctx context.Context) *errands {
	ctx, cancel := context.WithCancel(ctx)
	return &errands{ctx: ctx, cancel: cancel}
}

// run makes a command of f; nothing starts after close.
func (e *errands) run(f func(context.Context) tea.Msg) tea.Cmd {
	return func() (msg tea.Msg) {
		e.mu.Lock()
		if e.closed {
			e.mu.Unlock()
			return nil
		}
		e.under.Add(1)
		e.mu.Unlock()
		defer e.under.Done()
		if e.broke == nil {
			return f(e.ctx)
		}
		if err := panics.Call(func() { msg = f(e.ctx) }); err != nil {
			e.broke(err)
		}
		return msg
	}
}

// after makes a command that gives msg when d has passed.
func (e *errands) after(d time.Duration, msg tea.Msg) tea.Cmd {
	return e.run(func(ctx context.Context) tea.Msg {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return msg
		case <-ctx.Done():
			return nil
		}
	})
}

// close cancels what is under way and waits for it.
func (e *errands) close() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.cancel()
	e.under.Wait()
}

package task

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/panics"
)

// Runner runs tasks outside of the event loop. Screens that share a program have a Runner each: its
// messages carry the address of the screen, so that the program can route them.
type Runner struct {
	ctx    context.Context
	cancel context.CancelFunc

	// Both must not change while the program runs.
	Address any         // address of the owner in every Message; nil: messages are not wrapped
	OnPanic func(error) // handles a panic of a task; nil: the panic propagates

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
}

// Message is a message for the owner with address To.
type Message struct {
	To  any
	Msg tea.Msg
}

// NewRunner returns a runner whose tasks are cancelled with ctx.
func NewRunner(ctx context.Context) *Runner {
	ctx, cancel := context.WithCancel(ctx)
	return &Runner{ctx: ctx, cancel: cancel}
}

// Context returns the context of the runner's tasks.
func (r *Runner) Context() context.Context { return r.ctx }

// Wrap returns msg addressed to the runner's owner. nil stays nil.
func (r *Runner) Wrap(msg tea.Msg) tea.Msg {
	if r.Address == nil || msg == nil {
		return msg
	}
	return Message{r.Address, msg}
}

// Send returns a command that sends msg to the runner's owner.
func (r *Runner) Send(msg tea.Msg) tea.Cmd {
	return func() tea.Msg { return r.Wrap(msg) }
}

// Run returns a command that runs f and sends its result to the owner. After Close it does nothing.
func (r *Runner) Run(f func(context.Context) tea.Msg) tea.Cmd {
	return func() (msg tea.Msg) {
		r.mu.Lock()
		if r.closed {
			r.mu.Unlock()
			return nil
		}
		r.running.Add(1)
		r.mu.Unlock()
		defer r.running.Done()
		if r.OnPanic == nil {
			return r.Wrap(f(r.ctx))
		}
		if err := panics.Call(func() { msg = r.Wrap(f(r.ctx)) }); err != nil {
			r.OnPanic(err)
		}
		return msg
	}
}

// After returns a command that sends msg after d.
func (r *Runner) After(d time.Duration, msg tea.Msg) tea.Cmd {
	return r.Run(func(ctx context.Context) tea.Msg {
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

// Close cancels running tasks and waits for them to return.
func (r *Runner) Close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.cancel()
	r.running.Wait()
}

// Wait waits until c is closed or ctx ends and reports whether ctx is still valid. A nil c does not
// wait.
func Wait(ctx context.Context, c <-chan struct{}) bool {
	if c != nil {
		select {
		case <-c:
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}

package main

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"agentctl/tui/remote"

	"agentctl/protocol"
)

// guideReads is how long the guide takes to read before it decides.
const guideReads = 800 * time.Millisecond

// A guide plays a person in a session that nobody steers: it lets the agent explain what it asks for, allows it, and closes the
// session after so many turns.
type guide struct {
	*view
	turns int

	mu  sync.Mutex
	err error // why it could not go on
}

// Updates are the session's; the guide acts on those that were told.
func (g *guide) Updates(ctx context.Context) iter.Seq[remote.Update] {
	return func(yield func(remote.Update) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var acts sync.WaitGroup
		defer acts.Wait()
		defer cancel()
		act := func(f func(context.Context) error) {
			acts.Go(func() {
				if err := f(ctx); err != nil && ctx.Err() == nil {
					g.fail(err)
					cancel()
				}
			})
		}
		for u := range g.view.Updates(ctx) {
			if !yield(u) {
				return
			}
			if u.Event == nil {
				continue
			}
			switch u.Event.Type {
			case protocol.ApprovalRequested:
				var asked protocol.Approval
				if err := u.Event.Decode(&asked); err != nil {
					g.fail(err)
					return
				}
				act(func(ctx context.Context) error { return g.decide(ctx, asked.Request) })
			case protocol.TurnEnded:
				if g.turns--; g.turns == 0 {
					act(func(ctx context.Context) error {
						return g.Do(ctx, protocol.DoClose, protocol.CloseData{Reason: "the tour is over"}, nil)
					})
				}
			}
		}
	}
}

// decide asks why, then allows.
func (g *guide) decide(ctx context.Context, request string) error {
	for _, d := range []protocol.Decision{protocol.Explain, protocol.AllowOnce} {
		select {
		case <-time.After(guideReads):
		case <-ctx.Done():
			return ctx.Err()
		}
		err := g.Do(ctx, protocol.DoApprove, protocol.ApproveData{Request: request, Decision: d}, nil)
		if protocol.CodeOf(err) == protocol.CodeUnsupported && d == protocol.Explain {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", d, request, err)
		}
	}
	return nil
}

func (g *guide) fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil {
		g.err = err
	}
}

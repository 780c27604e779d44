package tour

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"agentctl/internal/cli/screen"
	"agentctl/protocol"
	"agentctl/tui/remote"
)

// tourPause is the pause before each decision of a tourUser.
const tourPause = 800 * time.Millisecond

// A tourUser plays the user of a session without one: it has every approval explained and allows
// it, and closes the session after the given number of turns.
type tourUser struct {
	*screen.Session
	turns int

	mu  sync.Mutex
	err error // the first of an action
}

// Updates yields the session's updates and acts on those that were yielded.
func (u *tourUser) Updates(ctx context.Context) iter.Seq[remote.Update] {
	return func(yield func(remote.Update) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var actions sync.WaitGroup
		defer actions.Wait()
		defer cancel()
		act := func(f func(context.Context) error) {
			actions.Go(func() {
				if err := f(ctx); err != nil && ctx.Err() == nil {
					u.fail(err)
					cancel()
				}
			})
		}
		for update := range u.Session.Updates(ctx) {
			if !yield(update) {
				return
			}
			if update.Event == nil {
				continue
			}
			switch update.Event.Type {
			case protocol.ApprovalRequested:
				var approval protocol.Approval
				if err := update.Event.Decode(&approval); err != nil {
					u.fail(err)
					return
				}
				act(func(ctx context.Context) error { return u.approve(ctx, approval.Request) })
			case protocol.TurnEnded:
				if u.turns--; u.turns == 0 {
					act(func(ctx context.Context) error {
						return u.Do(ctx, protocol.DoClose, protocol.CloseData{Reason: "the tour is over"}, nil)
					})
				}
			}
		}
	}
}

// approve has a request explained, then allows it.
func (u *tourUser) approve(ctx context.Context, request string) error {
	for _, d := range []protocol.Decision{protocol.Explain, protocol.AllowOnce} {
		select {
		case <-time.After(tourPause):
		case <-ctx.Done():
			return ctx.Err()
		}
		err := u.Do(ctx, protocol.DoApprove, protocol.ApproveData{Request: request, Decision: d}, nil)
		if protocol.CodeOf(err) == protocol.CodeUnsupported && d == protocol.Explain {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", d, request, err)
		}
	}
	return nil
}

func (u *tourUser) fail(err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.err == nil {
		u.err = err
	}
}

package sqlite

import (
	"context"
	"errors"
	"time"

	"agentctl/server/session"
)

// keepHouse checkpoints and sweeps, driven by commits, until ctx ends or the store fails.
func (s *Store) keepHouse(ctx context.Context) {
	defer close(s.stopped)
	idle := time.NewTimer(s.quiet)
	defer idle.Stop()
	swept := false
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-s.wrote:
			idle.Reset(s.quiet)
			if s.unmoved.Load() >= checkpointBytes {
				err = s.move(ctx)
			}
		case <-s.removed:
			err = s.sweep(ctx)
			swept = err == nil
		case <-idle.C:
			if !swept {
				err = s.sweep(ctx)
				swept = err == nil
			}
			if err == nil {
				err = s.moveSome() // so that empty has little left to do
			}
			if err == nil {
				err = s.empty(ctx)
			}
		}
		switch {
		case err == nil || ctx.Err() != nil:
		case errors.Is(err, session.ErrStoreFailed):
			return // the next commit says so
		default:
			s.log.Warn("housekeeping failed and will be tried again", "error", err)
			idle.Reset(s.quiet)
		}
	}
}

// notify leaves a token in c when there is none yet.
func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

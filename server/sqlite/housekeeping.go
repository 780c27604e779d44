package sqlite

import (
	"context"
	"errors"
	"time"

	"agentctl/server/session"
)

// keepHouse checkpoints and sweeps, driven by commits, until ctx ends or the store fails. Every so often it moves what
// was committed, so that a power cut takes no more than that time's commits; when there was nothing to move, it empties
// the log and rests.
func (s *Store) keepHouse(ctx context.Context) {
	defer close(s.stopped)
	round := time.NewTimer(s.every)
	defer round.Stop()
	resting, swept := false, false
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-s.wrote:
			if s.unmoved.Load() >= s.logLimit/8 {
				err = s.move(ctx)
			}
			if resting {
				round.Reset(s.every)
				resting = false
			}
		case <-s.removed:
			err = s.sweep(ctx)
			swept = err == nil
		case <-round.C:
			switch {
			case !swept:
				err = s.sweep(ctx)
				swept = err == nil
			case s.unmoved.Load() > 0:
				err = s.moveSome()
			default:
				err = s.empty(ctx)
				resting = err == nil
			}
			if !resting {
				round.Reset(s.every)
			}
		}
		switch {
		case err == nil || ctx.Err() != nil:
		case errors.Is(err, session.ErrStoreFailed):
			return // the next commit says so
		default:
			s.log.Warn("housekeeping failed and will be tried again", "err", err)
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

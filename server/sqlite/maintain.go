package sqlite

import (
	"context"
	"errors"
	"time"

	"agentctl/server/session"
)

// maintain checkpoints and sweeps, driven by commits, until ctx ends or the store fails. Every so often it moves what
// was committed, so that a power cut takes no more than that time's commits; when there was nothing to move, it empties
// the log and rests.
func (s *Store) maintain(ctx context.Context) {
	defer close(s.stopped)
	round := time.NewTimer(s.interval)
	defer round.Stop()
	resting, swept := false, false
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-s.committed:
			if s.walBytes.Load() >= s.walLimit/8 {
				err = s.checkpoint(ctx)
			}
			if resting {
				round.Reset(s.interval)
				resting = false
			}
		case <-s.removed:
			err = s.collectRemoved(ctx)
			swept = err == nil
		case <-round.C:
			switch {
			case !swept:
				err = s.collectRemoved(ctx)
				swept = err == nil
			case s.walBytes.Load() > 0:
				err = s.checkpointPassive()
			default:
				err = s.truncateWAL(ctx)
				resting = err == nil
			}
			if !resting {
				round.Reset(s.interval)
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

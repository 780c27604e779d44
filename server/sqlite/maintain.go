package sqlite

import (
	"context"
	"errors"
	"time"

	"agentctl/server/eventlog"
)

// maintain runs checkpoints, deletes the rows of removed sessions and merges the chunks of ended
// turns, until ctx ends or the store fails. Commits wake it. At every interval it checkpoints the
// commits so far, so a power cut loses at most the commits of one interval. When nothing was
// committed, it truncates the log and waits for the next commit.
func (s *Store) maintain(ctx context.Context) {
	defer close(s.stopped)
	timer := time.NewTimer(s.interval)
	defer timer.Stop()
	idle, collected := false, false
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-s.committed:
			if s.checkpoints.walBytes.Load() >= s.walLimit/8 {
				err = s.checkpoint(ctx)
			}
			if idle {
				timer.Reset(s.interval)
				idle = false
			}
		case <-s.removed:
			err = s.collectRemoved(ctx)
			collected = err == nil
		case <-s.merges.waiting:
			err = s.mergeTurns(ctx)
		case <-timer.C:
			switch {
			case !collected:
				err = s.collectRemoved(ctx)
				collected = err == nil
			case s.checkpoints.walBytes.Load() > 0:
				err = s.checkpointPassive()
			default:
				err = s.truncateWAL(ctx)
				idle = err == nil
			}
			if !idle {
				timer.Reset(s.interval)
			}
		}
		switch {
		case err == nil || ctx.Err() != nil:
		case errors.Is(err, eventlog.ErrStoreFailed):
			return // the next commit returns the error
		default:
			s.log.Warn("maintenance failed, will retry", "err", err)
		}
	}
}

// notify puts a token into c if it is empty.
func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

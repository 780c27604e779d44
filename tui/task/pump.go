package task

import (
	"context"
	"iter"
	"time"

	"agentctl/internal/panics"
)

const (
	FrameTime = 16 * time.Millisecond // minimum time between two batches
	MaxBatch  = 4096                  // maximum number of items in a batch
)

// Pump reads a source and passes its items to send in batches, at most one per FrameTime. It reads
// nothing while send blocks, so a slow receiver slows down the source. Pump returns when the source
// or ctx ends, after its goroutine has ended. The error is a panic of the source.
func Pump[T any](ctx context.Context, source func(context.Context) iter.Seq[T], send func([]T)) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	updates := make(chan T)
	done := make(chan struct{})
	var broke error // must be read after done is closed
	go func() {
		defer close(done)
		defer close(updates)
		defer panics.RecoverTo(&broke)
		for u := range source(ctx) {
			select {
			case updates <- u:
			case <-ctx.Done():
				return
			}
		}
	}()
	defer func() {
		cancel()
		<-done
		err = broke
	}()

	var next []T
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	ready := true // FrameTime has passed since the last batch
	for {
		in := updates
		if len(next) == MaxBatch {
			in = nil
		}
		select {
		case u, ok := <-in:
			if !ok {
				if len(next) > 0 {
					send(next)
				}
				return nil
			}
			next = append(next, u)
			if !ready || len(next) > 1 {
				continue
			}
			timer.Reset(0) // let items that are ready join the batch
		case <-timer.C:
			ready = len(next) == 0
			if !ready {
				send(next)
				next = nil
				timer.Reset(FrameTime)
			}
		}
	}
}

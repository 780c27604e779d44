package task

import (
	"context"
	"iter"
	"time"

	"agentctl/internal/panics"
)

// Limits of Pump.
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
	var sourceErr error // must be read after done is closed
	go func() {
		defer close(done)
		defer close(updates)
		defer panics.RecoverTo(&sourceErr)
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
		err = sourceErr
	}()

	var batch []T
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	frameOver := true // FrameTime has passed since the last batch
	for {
		in := updates
		if len(batch) == MaxBatch {
			in = nil
		}
		select {
		case u, ok := <-in:
			if !ok {
				if len(batch) > 0 {
					send(batch)
				}
				return nil
			}
			batch = append(batch, u)
			if !frameOver || len(batch) > 1 {
				continue
			}
			timer.Reset(0) // let items that are ready join the batch
		case <-timer.C:
			frameOver = len(batch) == 0
			if !frameOver {
				send(batch)
				batch = nil
				timer.Reset(FrameTime)
			}
		}
	}
}

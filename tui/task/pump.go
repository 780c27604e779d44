package task

import (
	"context"
	"iter"
	"time"

	"agentctl/internal/panics"
)

const (
	FrameTime = 16 * time.Millisecond // the least time between two batches
	MaxBatch  = 4096                  // updates in a batch
)

// Pump reads a source and calls send with its items, at most once a frame. While send blocks nothing is
// read, so a slow screen slows the source down. Pump returns when the source or ctx ends; its error is a
// panic of the source. It owns the goroutine that reads.
func Pump[T any](ctx context.Context, source func(context.Context) iter.Seq[T], send func([]T)) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	updates := make(chan T)
	done := make(chan struct{})
	var broke error // read after done
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
	ready := true // a frame has passed since the last batch
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
			timer.Reset(0) // items that are ready join the batch
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

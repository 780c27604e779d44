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

// A Pace changes when the batches of Pump are sent. A nil function changes nothing.
type Pace[T any] struct {
	Wait   func() time.Duration // the time until the next batch, longer than FrameTime; 0: now
	Urgent func(T) bool         // reports whether an item does not wait for Wait
	Now    func(T) bool         // reports whether an item waits for nothing; such items must be rare
}

// Pump reads a source and passes its items to send in batches, at most one per FrameTime. It reads
// nothing while send blocks, so a slow receiver slows down the source. Pump returns when the source
// or ctx ends, after its goroutine has ended. The error is a panic of the source.
func Pump[T any](ctx context.Context, source func(context.Context) iter.Seq[T], send func([]T)) (err error) {
	return PumpAt(ctx, Pace[T]{}, source, send)
}

// PumpAt is Pump with a pace. An urgent item and a batch of MaxBatch items wait for FrameTime only.
func PumpAt[T any](
	ctx context.Context, pace Pace[T], source func(context.Context) iter.Seq[T], send func([]T),
) (err error) {
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
	slow := slowBatch[T]{Pace: pace}
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
			now := pace.Now != nil && pace.Now(u)
			if slow.add(u, len(batch), now) || now || frameOver && len(batch) == 1 {
				timer.Reset(0) // let items that are ready join the batch
			}
		case <-timer.C:
			frameOver = len(batch) == 0
			if frameOver {
				continue
			}
			if d := slow.wait(); d > 0 {
				timer.Reset(d)
				continue
			}
			send(batch)
			batch, slow = nil, slowBatch[T]{Pace: pace}
			timer.Reset(FrameTime)
		}
	}
}

// A slowBatch says when a batch with a pace is due.
type slowBatch[T any] struct {
	Pace[T]
	now     bool // the batch does not wait
	waiting bool // it waits now
}

// add notes an item, the n-th of the batch. It reports whether the batch stops waiting.
func (b *slowBatch[T]) add(item T, n int, now bool) bool {
	if b.Wait == nil || b.now || !now && n < MaxBatch && !b.Urgent(item) {
		return false
	}
	b.now = true
	return b.waiting
}

// wait returns how long the batch waits from now on.
func (b *slowBatch[T]) wait() (d time.Duration) {
	if b.Wait != nil && !b.now {
		d = b.Wait()
	}
	b.waiting = d > 0
	return d
}
